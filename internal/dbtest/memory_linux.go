package dbtest

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// memory returns a folder in memory for the files of tests. It is "" unless the folder has enough
// room and programs can run in it. A database there does not wait for a disk, and PostgreSQL copies
// one ten times faster. A TMPDIR that is set is the user's own choice.
var memory = sync.OnceValue(func() string {
	const folder, room = "/dev/shm", 4 << 30 // bytes
	var fs unix.Statfs_t
	if os.Getenv("TMPDIR") != "" || unix.Statfs(folder, &fs) != nil {
		return ""
	}
	if fs.Type != unix.TMPFS_MAGIC || fs.Flags&unix.ST_NOEXEC != 0 || int64(fs.Bavail)*fs.Bsize < room || unix.Access(folder, unix.W_OK) != nil {
		return ""
	}
	return folder
})

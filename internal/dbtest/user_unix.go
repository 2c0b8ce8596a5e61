//go:build unix

package dbtest

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// runAs prepares a command that makes and serves a cluster in dir. PostgreSQL
// refuses to run as root; then it runs as the user postgres. It stands apart from
// this process's group, so that an interrupt from the keyboard does not reach it
// before the end of this process does.
func runAs(cmd *exec.Cmd, dir string) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid, err := owner()
	if err != nil {
		return err
	}
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return os.Chown(dir, uid, gid)
}

// owner is who runs PostgreSQL: this process's user, or the user postgres in place of root.
func owner() (uid, gid int, err error) {
	if os.Geteuid() != 0 {
		return os.Geteuid(), os.Getegid(), nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		return 0, 0, fmt.Errorf("PostgreSQL does not run as root, and the user postgres does not exist: %w", err)
	}
	uid, _ = strconv.Atoi(account.Uid) // numbers on Unix
	gid, _ = strconv.Atoi(account.Gid)
	return uid, gid, nil
}

// cache returns a folder in which what initdb makes is kept for other test processes,
// "" if there is none that only the owner can write.
func cache() string {
	uid, gid, err := owner()
	if err != nil {
		return ""
	}
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("countersign-initdb-%d", uid))
	if os.Mkdir(dir, 0o700) == nil && os.Chown(dir, uid, gid) != nil {
		return ""
	}
	info, err := os.Lstat(dir)
	if err != nil || info.Mode() != os.ModeDir|0o700 || info.Sys().(*syscall.Stat_t).Uid != uint32(uid) {
		return ""
	}
	return dir
}

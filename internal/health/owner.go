package health

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/fault"
)

// writtenFiles end the names of files in a data folder that a service has to write.
var writtenFiles = []string{".db", ".db-wal", ".db-shm", ".commits", ".lock"}

// maxNamed is how many paths a finding names.
const maxNamed = 3

// paths are those of one problem.
type paths struct {
	count int
	first []string
}

func (p *paths) add(text string) {
	if p.count++; len(p.first) < maxNamed {
		p.first = append(p.first, text)
	}
}

func (p *paths) String() string {
	text := strings.Join(p.first, ", ")
	if more := p.count - len(p.first); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// ownership is what a walk through a data folder finds.
type ownership struct {
	dir      string
	uid, gid int
	known    bool
	// foreign belong to another user than the folder; needed reports that the service has to write one of them.
	foreign paths
	needed  bool
	// locked can't be written by this process.
	locked paths
	// odd are folders and pipes where the service has files.
	odd paths
}

// owners finds files in the data folder that the service can't write, and files of other users, as a command leaves them
// that was run by another user.
func owners(p Location) []Finding {
	const name = "file owners"
	o := ownership{dir: p.Dir}
	if info, err := os.Stat(p.Dir); err == nil && info.IsDir() {
		o.uid, o.gid, o.known = Owner(info)
	}
	if !o.known {
		return nil
	}
	_ = filepath.WalkDir(p.Dir+string(filepath.Separator), o.visit) // what can't be read is found by its folder
	fix := fmt.Sprintf("chown -R %s:%s %s", userName(o.uid), groupName(o.gid), p.Dir)
	level := Warn
	if o.needed {
		level = Fail
	}
	switch {
	case o.odd.count > 0:
		return []Finding{{name, Fail, fmt.Sprintf("The data folder %s has folders or pipes in the place of files: %s", p.Dir, &o.odd),
			"The service can't start with them.", "Remove them, once you know who put them there."}}
	case o.foreign.count > 0:
		return []Finding{{name, level, fmt.Sprintf("Files in the data folder %s belong to other users than the folder: %s", p.Dir, &o.foreign),
			"The service may be unable to read or write them.", fix}}
	case o.locked.count > 0:
		return []Finding{{name, Fail, fmt.Sprintf("Files in the data folder %s can't be written: %s", p.Dir, &o.locked),
			"The service has to write them.", "Make them writable for the user that runs the service."}}
	}
	return []Finding{good(name, "All files in the data folder belong to "+userName(o.uid))}
}

func (o *ownership) visit(path string, e fs.DirEntry, err error) error {
	if e == nil || path == o.dir+string(filepath.Separator) {
		return err
	}
	if err != nil || e.Name() == "lost+found" { // a folder that was found before, and that of a disk
		return skipped(e)
	}
	info, err := e.Info()
	if err != nil { // removed meanwhile
		return nil
	}
	isFile := slices.ContainsFunc(writtenFiles, func(end string) bool { return strings.HasSuffix(e.Name(), end) })
	if isFile && !e.Type().IsRegular() && e.Type() != fs.ModeSymlink {
		o.odd.add(path)
	}
	needed := e.IsDir() || e.Type().IsRegular() && isFile
	if uid, _, known := Owner(info); known && uid != o.uid {
		o.foreign.add(fmt.Sprintf("%s (%s)", path, userName(uid)))
		o.needed = o.needed || needed
	} else if needed {
		if err := access(path, e.IsDir()); err != nil {
			o.locked.add(fmt.Sprintf("%s (%v)", path, fault.FileReason(err)))
		}
	}
	return nil
}

func skipped(e fs.DirEntry) error {
	if e.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// userName is the name of a user, or the number of one without.
func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return strconv.Itoa(uid)
}

func groupName(gid int) string {
	if g, err := user.LookupGroupId(strconv.Itoa(gid)); err == nil {
		return g.Name
	}
	return strconv.Itoa(gid)
}

package main

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/health"
)

// clockGrain is by how much the time of a file may be before that of the program.
const clockGrain = time.Second

// shareFile lets the owner of a data folder read a file outside of it that a command of root has created for the service: by
// its group, as the packages do.
func (a *app) shareFile(path, dir string) {
	info, err := os.Stat(dir)
	if err != nil || os.Geteuid() != 0 {
		return
	}
	if uid, gid, known := health.Owner(info); known && uid != 0 {
		if err := errors.Join(os.Lchown(path, 0, gid), os.Chmod(path, 0o640)); err != nil {
			a.Warn("only root can read %s (%v); the service needs it, too", cli.Safe(path), fault.FileReason(err))
		}
	}
}

// handOver leaves the files that a command of root has written in the data folder of another user to that user: their service
// could not write them. Files from before the command stay, and so does one with several names, which may be outside.
func (a *app) handOver(dir string, began time.Time) {
	info, err := os.Stat(dir)
	if err != nil || os.Geteuid() != 0 {
		return
	}
	uid, gid, known := health.Owner(info)
	if !known || uid == 0 {
		return
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	var failed error
	_ = fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		info, err := e.Info()
		if err != nil { // removed meanwhile
			return nil
		}
		owner, _, _ := health.Owner(info)
		if owner == 0 && !info.ModTime().Before(began.Add(-clockGrain)) && health.Names(info) == 1 {
			if err := root.Lchown(path, uid, gid); err != nil {
				failed = err
			}
		}
		return nil
	})
	if failed != nil {
		a.Warn("new files in %s still belong to root (%v); the service may be unable to use them", cli.Safe(dir), fault.FileReason(failed))
	}
}

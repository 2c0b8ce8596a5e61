package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/countersign/countersign/internal/fault"
)

// Spool copies stdin to a file in dir, which only its owner can read, and returns it with its size in bytes. The file goes
// when it is closed by [RemoveSpool]; where the system allows it, its name goes at once, so that a killed program leaves
// nothing.
func (t *Console) Spool(ctx context.Context, dir string) (file *os.File, size int64, err error) {
	if file, err = os.CreateTemp(dir, "stdin-*.spool"); err != nil { // mode 0600
		return nil, 0, spoolError(dir, err)
	}
	_ = os.Remove(file.Name()) // refused on Windows while the file is open
	_, err = t.await(ctx, func() (string, error) {
		_, err := io.Copy(file, t.In)
		return "", err
	})
	if err == nil {
		size, err = file.Seek(0, io.SeekEnd)
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err == nil {
		return file, size, nil
	}
	err = errors.Join(err, RemoveSpool(file))
	if ctx.Err() != nil {
		return nil, 0, ctx.Err()
	}
	return nil, 0, spoolError(dir, err)
}

// RemoveSpool closes and removes a file of [Console.Spool].
func RemoveSpool(file *os.File) error {
	err := file.Close()
	if removed := os.Remove(file.Name()); !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}

func spoolError(dir string, err error) error {
	return Fail(ExitFailed, "spool_failed", fmt.Sprintf("stdin can't be copied to %s (%v), so nothing was written; make room there, and repeat the command", dir, fault.FileReason(err)))
}

package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/countersign/countersign/internal/blob"
	"github.com/countersign/countersign/internal/keyfile"
)

// fileName is what the name of a backup says.
type fileName struct {
	service keyfile.Service
	at      time.Time
	// key names the key file of the content, "" for one without. Several stores may share a bucket.
	key       string
	encrypted bool
	// nth counts the backups of one second, from 1.
	nth int
}

const (
	nameTime = "20060102T150405Z"
	// Extension ends the name of a backup, before that of an encrypted file.
	Extension          = ".backup"
	encryptedExtension = ".age"
)

var fileNameForm = regexp.MustCompile(`^([a-z]+)-([0-9]{8}T[0-9]{6}Z)(?:-([0-9a-f]{8}))?(?:\.([1-9][0-9]{0,8}))?\.backup(\.age)?$`)

// parseFileName reads a name, false for the name of something else.
func parseFileName(text string) (n fileName, ok bool) {
	match := fileNameForm.FindStringSubmatch(text)
	if match == nil {
		return n, false
	}
	at, err := time.Parse(nameTime, match[2])
	nth, _ := strconv.Atoi(cmp.Or(match[4], "1")) // of up to nine digits
	return fileName{keyfile.Service(match[1]), at, match[3], match[5] != "", nth}, err == nil
}

// stem is what the names of all backups of a second begin with.
func (n fileName) stem() string {
	text := string(n.service) + "-" + n.at.UTC().Format(nameTime)
	if n.key != "" {
		text += "-" + n.key
	}
	return text
}

func (n fileName) text() string {
	text := n.stem()
	if n.nth > 1 {
		text += fmt.Sprintf(".%d", n.nth)
	}
	text += Extension
	if n.encrypted {
		text += encryptedExtension
	}
	return text
}

// free is the first text of the name that is not taken.
func (n fileName) free(taken func(text string) bool) string {
	for n.nth = 1; taken(n.text()); n.nth++ {
	}
	return n.text()
}

// writeNew writes a file under a name that is not in use.
func writeNew(folder string, name fileName, write func(io.Writer) error) (path string, size int64, err error) {
	path = filepath.Join(folder, name.free(func(text string) bool {
		_, err := os.Lstat(filepath.Join(folder, text))
		return !errors.Is(err, os.ErrNotExist)
	}))
	size, err = writeFile(path, write)
	return path, size, err
}

// freeKey is a name that is not in use in a bucket.
func freeKey(ctx context.Context, b *blob.Bucket, name fileName) (string, error) {
	keys := map[string]bool{}
	err := b.Each(ctx, name.stem(), func(key string, _ int64) error {
		keys[key] = true
		return nil
	})
	return name.free(func(text string) bool { return keys[text] }), err
}

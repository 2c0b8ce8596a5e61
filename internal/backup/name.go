package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
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
}

const (
	nameTime = "20060102T150405Z"
	// Extension ends the name of a backup, before that of an encrypted file.
	Extension          = ".backup"
	encryptedExtension = ".age"
)

var fileNameForm = regexp.MustCompile(`^([a-z]+)-([0-9]{8}T[0-9]{6}Z)(?:-([0-9a-f]{8}))?(?:\.[0-9]+)?\.backup(\.age)?$`)

// parseFileName reads a name, false for the name of something else.
func parseFileName(text string) (n fileName, ok bool) {
	match := fileNameForm.FindStringSubmatch(text)
	if match == nil {
		return n, false
	}
	at, err := time.Parse(nameTime, match[2])
	return fileName{keyfile.Service(match[1]), at, match[3], match[4] != ""}, err == nil
}

// text is the name of the n-th backup of its second.
func (n fileName) text(nth int) string {
	text := string(n.service) + "-" + n.at.UTC().Format(nameTime)
	if n.key != "" {
		text += "-" + n.key
	}
	if nth > 1 {
		text += fmt.Sprintf(".%d", nth)
	}
	text += Extension
	if n.encrypted {
		text += encryptedExtension
	}
	return text
}

// free is the first text of the name that is not taken.
func (n fileName) free(taken func(text string) bool) string {
	for nth := 1; ; nth++ {
		if text := n.text(nth); !taken(text) {
			return text
		}
	}
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
	err := b.Each(ctx, func(key string, _ int64) error {
		keys[key] = true
		return nil
	})
	return name.free(func(text string) bool { return keys[text] }), err
}

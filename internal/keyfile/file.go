package keyfile

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/countersign/countersign/internal/regular"
	"github.com/countersign/countersign/internal/sqldb"
)

// FileName is the key file's name in the data folder.
const FileName = "countersign.key"

const (
	newFileName = FileName + ".new"
	filePrefix  = "countersign-key-1:"
	// maxText is more than a key file has, in bytes.
	maxText = 64 << 10
)

// ErrNoKeyFile is returned for a text that is not that of a key file.
var ErrNoKeyFile = errors.New("keyfile: not a key file")

// Parse reads the text of a key file, or returns [ErrNoKeyFile].
func Parse(text string) (*Box, error) {
	encoded, ok := strings.CutPrefix(strings.TrimSpace(text), filePrefix)
	secret, err := base64.RawURLEncoding.DecodeString(encoded)
	if !ok || err != nil || len(secret) != keySize {
		return nil, fmt.Errorf("%w: it must hold one line that begins with %q", ErrNoKeyFile, filePrefix)
	}
	return newBox(secret)
}

// Load reads the key file of a data folder. The error of a missing file is
// [os.ErrNotExist].
func Load(dir string) (*Box, error) { return load(filepath.Join(dir, FileName)) }

// Create creates the key file of a data folder, readable by its owner alone. It
// fails with [os.ErrExist] rather than replace one.
func Create(dir string) (*Box, error) { return create(filepath.Join(dir, FileName)) }

// Stage creates the successor of the key file beside it. It replaces the key file
// with [Replace], once the database holds its check value.
func Stage(dir string) (*Box, error) {
	path := filepath.Join(dir, newFileName)
	if err := removeStaged(path); err != nil {
		return nil, err
	}
	return create(path)
}

// removeStaged removes a successor that was not put in its place.
func removeStaged(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("keyfile: %w", err)
	}
	return nil
}

// StageText is Stage with a key file that exists elsewhere, whose text is given.
func StageText(dir, text string) error {
	if _, err := Parse(text); err != nil {
		return err
	}
	path := filepath.Join(dir, newFileName)
	if err := keepAside(dir, path); err != nil { // a backup may belong to it
		return err
	}
	if err := removeStaged(path); err != nil {
		return err
	}
	return write(path, strings.TrimSpace(text)+"\n")
}

// LoadStaged reads the successor that an interrupted replacement left behind.
func LoadStaged(dir string) (*Box, error) { return load(filepath.Join(dir, newFileName)) }

// Replace puts the staged successor in the key file's place. What was there stays
// beside it under its own name: it may belong to backups, or to another database.
func Replace(dir string) error {
	if err := keepAside(dir, filepath.Join(dir, FileName)); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(dir, newFileName), filepath.Join(dir, FileName)); err != nil {
		return fmt.Errorf("keyfile: %w", err)
	}
	return syncFolder(dir)
}

// keepAside links a key file in a folder under a second name derived from its content, so that the
// file always exists and concurrent calls do not conflict.
func keepAside(dir, path string) error {
	text, err := regular.Read(path, maxText)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("keyfile: %w", err)
	}
	name := fmt.Sprintf("%x", sha256.Sum256(text))[:8]
	if box, err := Parse(string(text)); err == nil {
		name = KeyName(box.Check())
	}
	if err := os.Link(path, filepath.Join(dir, FileName+"."+name)); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("keyfile: %w", err)
	}
	return nil
}

func load(path string) (*Box, error) {
	text, err := regular.Read(path, maxText)
	if err != nil {
		return nil, fmt.Errorf("keyfile: %w", err)
	}
	box, err := Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return box, nil
}

// create creates a new key file.
func create(path string) (*Box, error) {
	secret := make([]byte, keySize)
	rand.Read(secret) // never returns an error
	if err := write(path, filePrefix+base64.RawURLEncoding.EncodeToString(secret)+"\n"); err != nil {
		return nil, err
	}
	return newBox(secret)
}

// write writes a whole key file under another name first, so that a process
// killed in between leaves no half of one.
func write(path, text string) error {
	temp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return fmt.Errorf("keyfile: %w", err)
	}
	defer os.Remove(temp.Name())
	_, err = temp.WriteString(text)
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return fmt.Errorf("keyfile: %w", err)
	}
	if err := os.Link(temp.Name(), path); err != nil {
		return fmt.Errorf("keyfile: %w", err)
	}
	return syncFolder(filepath.Dir(path))
}

func syncFolder(dir string) error {
	if err := sqldb.SyncFolder(dir); err != nil {
		return fmt.Errorf("keyfile: %w", err)
	}
	return nil
}

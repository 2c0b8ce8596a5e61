package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// writeSums writes SHA256SUMS, which sha256sum --check reads.
func (r release) writeSums() error {
	files, err := os.ReadDir(r.out) // sorted by name
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, f := range files {
		sum, err := sumOf(filepath.Join(r.out, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sum, f.Name())
	}
	fmt.Fprint(r.log, sums.String())
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

// sumOf returns the SHA-256 of a file.
func sumOf(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return h.Sum(nil), err
}

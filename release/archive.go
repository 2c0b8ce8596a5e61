package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// entry is a file or a folder in an archive. All that would differ between two machines
// is given here or left out.
type entry struct {
	name string // a folder ends with a slash
	mode fs.FileMode
	from string // the file with its content
	text string // its content, without from
	uid  int    // and the group's
}

// writeArchives writes an archive for each platform: the binary, README and licenses.
func (r release) writeArchives(context.Context) error {
	for _, p := range r.platforms {
		folder := "countersign-" + r.version + "/"
		entries := []entry{
			{name: folder + p.program(), mode: 0o755, from: r.binary(p)},
			{name: folder + "LICENSE", mode: 0o644, from: filepath.Join(r.source, "LICENSE")},
			{name: folder + "README.md", mode: 0o644, from: filepath.Join(r.source, "README.md")},
			{name: folder + "THIRD-PARTY-LICENSES", mode: 0o644, from: filepath.Join(r.stage, "THIRD-PARTY-LICENSES")},
		}
		ending, write := ".tar.gz", writeTarGzip
		if p.os == "windows" {
			ending, write = ".zip", writeZip
		}
		if err := write(r.file("_"+p.os+"_"+p.arch+ending), r.date, entries); err != nil {
			return err
		}
	}
	return nil
}

// create writes a file by a function.
func create(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

func writeTarGzip(path string, date time.Time, entries []entry) error {
	return create(path, func(w io.Writer) error {
		z := gzip.NewWriter(w)
		return errors.Join(writeTar(z, date, entries), z.Close())
	})
}

func writeTar(w io.Writer, date time.Time, entries []entry) error {
	t := tar.NewWriter(w)
	for _, e := range entries {
		content, size, err := e.open()
		if err != nil {
			return err
		}
		kind := byte(tar.TypeReg)
		if strings.HasSuffix(e.name, "/") {
			kind = tar.TypeDir
		}
		err = t.WriteHeader(&tar.Header{Typeflag: kind, Name: e.name, Mode: int64(e.mode), Uid: e.uid, Gid: e.uid, Size: size, ModTime: date, Format: tar.FormatPAX})
		if err == nil {
			_, err = io.Copy(t, content)
		}
		if err = errors.Join(err, content.Close()); err != nil {
			return err
		}
	}
	return t.Close()
}

// open returns the content of an entry with its size.
func (e entry) open() (io.ReadCloser, int64, error) {
	if e.from == "" {
		return io.NopCloser(strings.NewReader(e.text)), int64(len(e.text)), nil
	}
	f, err := os.Open(e.from)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

func writeZip(path string, date time.Time, entries []entry) error {
	return create(path, func(w io.Writer) error {
		z := zip.NewWriter(w)
		for _, e := range entries {
			content, _, err := e.open()
			if err != nil {
				return err
			}
			header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: date}
			header.SetMode(e.mode)
			to, err := z.CreateHeader(header)
			if err == nil {
				_, err = io.Copy(to, content)
			}
			if err = errors.Join(err, content.Close()); err != nil {
				return err
			}
		}
		return z.Close()
	})
}

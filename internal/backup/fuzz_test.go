package backup_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/sqldb"
)

// archive packs members, each a name and a content.
func archive(members ...string) []byte {
	var to bytes.Buffer
	z := gzip.NewWriter(&to)
	w := tar.NewWriter(z)
	for i := 0; i+1 < len(members); i += 2 {
		_ = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: members[i], Size: int64(len(members[i+1])), Mode: 0o600})
		_, _ = io.WriteString(w, members[i+1])
	}
	_ = w.Close()
	_ = z.Close()
	return to.Bytes()
}

const tinyHeader = `{"format":1,"service":"store","tables":[{"name":"t","columns":["a"]}]}`

// readAll reads a backup to its end, and refuses a key outside the bucket.
func readAll(t testing.TB, text []byte) error {
	r, err := backup.NewReader(bytes.NewReader(text))
	if err != nil {
		return err
	}
	err = r.Tables(func(_ sqldb.Table, next func() ([]any, error)) error {
		for {
			if row, err := next(); row == nil || err != nil {
				return err
			}
		}
	})
	if err == nil {
		err = r.Media(func(key string, _ int64, _ io.Reader) error {
			if bytes.Contains([]byte(key), []byte("..")) && bytes.ContainsRune([]byte(key), '\\') {
				t.Errorf("the key %q", key)
			}
			return nil
		})
	}
	if err == nil {
		_, err = r.KeyFile()
	}
	if err == nil {
		_, err = r.End()
	}
	return err
}

func TestHostileBackupsAreRefused(t *testing.T) {
	for name, text := range map[string][]byte{
		"a path that leaves the folder":  archive("header.json", tinyHeader, "media/../../etc/passwd", "x"),
		"an absolute path":               archive("header.json", tinyHeader, "/etc/passwd", "x"),
		"a key of another folder":        archive("header.json", tinyHeader, "media/other/x", "x"),
		"a hidden key":                   archive("header.json", tinyHeader, "media/public/.x", "x"),
		"a key with a backslash":         archive("header.json", tinyHeader, `media/public/..\x`, "x"),
		"no header":                      archive("manifest.json", "{}"),
		"no manifest":                    archive("header.json", tinyHeader, "tables/t/000001.jsonl", "[1]\n"),
		"a manifest of something else":   archive("header.json", tinyHeader, "manifest.json", "{}"),
		"a row that is not an array":     archive("header.json", tinyHeader, "tables/t/000001.jsonl", "{}\n"),
		"a number that is too large":     archive("header.json", tinyHeader, "tables/t/000001.jsonl", "[99999999999999999999]\n"),
		"a fraction":                     archive("header.json", tinyHeader, "tables/t/000001.jsonl", "[1.5]\n"),
		"rows of a table out of turn":    archive("header.json", tinyHeader, "tables/u/000001.jsonl", "[1]\n"),
		"a member that is missing":       archive("header.json", tinyHeader, "tables/t/000002.jsonl", "[1]\n"),
		"an archive of another kind":     []byte("PK\x03\x04"),
		"content that expands endlessly": archive("header.json", tinyHeader, "media/public/zeros", string(make([]byte, 80<<20))),
	} {
		if err := readAll(t, text); !fault.HasCode(err, backup.CodeDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add(archive("header.json", tinyHeader, "tables/t/000001.jsonl", "[1]\n[null]\n", "media/public/x", "x", "manifest.json", "{}"))
	f.Add(archive("header.json", tinyHeader, "manifest.json", `{"tables":{"t":{"count":-1}}}`))
	f.Add([]byte{0x1f, 0x8b})
	f.Fuzz(func(t *testing.T, text []byte) { _ = readAll(t, text) })
}

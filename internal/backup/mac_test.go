package backup_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
)

// rewritten writes a backup again with correct sums, as somebody without the key file can. change changes its manifest, and
// comment is added to its header.
func rewritten(t testing.TB, file, comment string, change func(*backup.Manifest)) string {
	t.Helper()
	from := must.Get(os.Open(file))(t)
	defer from.Close()
	z := must.Get(gzip.NewReader(from))(t)
	var to bytes.Buffer
	packed := gzip.NewWriter(&to)
	in, out, content := tar.NewReader(z), tar.NewWriter(packed), sha256.New()
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		text, readErr := io.ReadAll(in)
		must.Do(t, errors.Join(err, readErr))
		switch h.Name {
		case "header.json":
			text = bytes.Replace(text, []byte("{"), []byte(`{"comment":"`+comment+`",`), 1)
		case "manifest.json":
			var m backup.Manifest
			must.Do(t, json.Unmarshal(text, &m))
			m.Content = fmt.Sprintf("%x", content.Sum(nil))
			change(&m)
			text, _ = json.Marshal(m)
		}
		h.Size = int64(len(text))
		fmt.Fprintf(content, "%d %s %d\n", len(h.Name), h.Name, h.Size)
		content.Write(text)
		must.Do(t, out.WriteHeader(h))
		_, _ = out.Write(text)
	}
	path := filepath.Join(t.TempDir(), "rewritten.backup")
	must.Do(t, errors.Join(out.Close(), packed.Close(), os.WriteFile(path, to.Bytes(), 0o600)))
	return path
}

func TestABackupIsAuthenticatedByItsKeyFile(t *testing.T) {
	t.Parallel()
	template.Engines(t, func(t *testing.T, db dbtest.DB) {
		t.Parallel()
		p := at(t, db)
		made := p.create(t, backup.CreateOptions{KeyFile: true})
		asIs, noCode := func(*backup.Manifest) {}, func(m *backup.Manifest) { m.MAC = "" }
		stranger := at(t, dbtest.New(t, dbtest.SQLite))
		for _, c := range []struct {
			name string
			at   place
			file string
			want backup.Authenticity
			code string // of the error
		}{
			{"as it was written", p, made.File, backup.Authentic, ""},
			{"without a code, as earlier versions wrote it and as it is once the code was taken away", p, rewritten(t, made.File, "", noCode), "", backup.CodeWithoutCode},
			{"changed, with correct sums", p, rewritten(t, made.File, "a change", asIs), "", backup.CodeDamaged},
			{"with another code", p, rewritten(t, made.File, "", func(m *backup.Manifest) { m.MAC = strings.Repeat("00", 32) }), "", backup.CodeDamaged},
			{"with a code that is not one", p, rewritten(t, made.File, "", func(m *backup.Manifest) { m.MAC = "x" }), "", backup.CodeDamaged},
			{"where its key file is not", stranger, made.File, backup.NoKey, ""},
		} {
			t.Run(c.name, func(t *testing.T) {
				info, err := c.at.backups.Verify(t.Context(), backup.Source{File: c.file})
				if c.code != "" {
					wantCode(t, err, countersign.KindInvalid, c.code)
				} else if err != nil || info.Authenticity != c.want {
					t.Errorf("%q, %v, want %q", info.Authenticity, err, c.want)
				}
			})
		}
		earlier := backup.Source{File: rewritten(t, made.File, "", noCode)}
		_, err := p.backups.Restore(t.Context(), earlier)
		wantCode(t, err, countersign.KindInvalid, backup.CodeWithoutCode)
		earlier.WithoutCode = true
		if done, err := p.backups.Restore(t.Context(), earlier); err != nil || done.Info.Authenticity != backup.NoCode {
			t.Errorf("restored: %q, %v", done.Info.Authenticity, err)
		}
		if _, err := keyfile.Create(stranger.db.Dir); err != nil { // whoever has a key file can make a backup that holds it
			t.Fatal(err)
		}
		_, err = stranger.backups.Restore(t.Context(), backup.Source{File: made.File})
		wantCode(t, err, countersign.KindInvalid, backup.CodeWithoutCode)
	})
}

// A damaged header may say anything, such as that a newer version wrote it.
func TestABackupWithADamagedHeaderIsDamaged(t *testing.T) {
	t.Parallel()
	p := at(t, template.New(t, dbtest.SQLite))
	for name, header := range map[string]string{
		"a newer format":  `{"format":3,"service":"store"}`,
		"another service": `{"format":1,"service":"stora"}`,
		"a newer version": `{"format":1,"service":"store","versions":{"store":9999}}`,
		"another key":     `{"format":1,"service":"store","key":"x"}`,
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x.backup")
			text := archive("header.json", header)
			text[len(text)-8] ^= 1 // gzip's sum
			must.Do(t, os.WriteFile(file, text, 0o600))
			_, err := p.backups.Restore(t.Context(), backup.Source{File: file})
			wantCode(t, err, countersign.KindInvalid, backup.CodeDamaged)
		})
	}
}

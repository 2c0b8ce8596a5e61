//go:build linux

package main

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
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
)

// candidate is a release of this tree for this machine.
func candidate(t *testing.T, version string) release {
	return release{
		source: "..", out: filepath.Join(t.TempDir(), "dist"), platforms: []platform{host}, log: t.Output(),
		commit: commit{version: version, revision: "0123456789abcdef0123456789abcdef01234567", date: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
	}
}

func (r release) mustBuild(t *testing.T) release {
	t.Helper()
	if err := r.build(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRelease(t *testing.T) {
	if os.Getenv("COUNTERSIGN_REQUIRE_ALL") != "1" {
		dbtest.Skip(t, errors.New("it builds what users install twice: set COUNTERSIGN_REQUIRE_ALL=1"))
	}
	r := candidate(t, "1.2.3").mustBuild(t)
	t.Run("two builds have equal bytes", func(t *testing.T) { checkEqual(t, r, buildElsewhere(t)) })
	t.Run("sha256sum accepts the sums", func(t *testing.T) {
		c := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
		c.Dir = r.out
		if out, err := c.CombinedOutput(); err != nil || strings.Count(string(out), ": OK\n") != len(list(t, r.out))-1 {
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Run("the archive has a program that knows its version", func(t *testing.T) { checkArchive(t, r) })
	t.Run("the bill of materials names all modules with their licenses", func(t *testing.T) { checkMaterials(t, r) })
	t.Run("the image serves on its empty base", func(t *testing.T) { checkImage(t, r) })
	t.Run("the .rpm is whole", func(t *testing.T) { checkRPM(t, r) })
	t.Run("the .deb is installed, upgraded and removed, and data stays", func(t *testing.T) { checkDeb(t, r) })
	t.Run("a folder with files is refused", func(t *testing.T) {
		if err := r.build(t.Context()); err == nil || !strings.Contains(err.Error(), "is not empty") {
			t.Error(err)
		}
	})
}

// buildElsewhere builds the same release from a copy of the source in another folder, as
// somebody with other settings.
func buildElsewhere(t *testing.T) release {
	t.Helper()
	files, err := exec.Command("git", "-C", "..", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		dbtest.Skip(t, fmt.Errorf("the source is not a checkout of git: %w", err))
	}
	r := candidate(t, "1.2.3")
	r.source = t.TempDir()
	t.Setenv("TZ", "Asia/Tokyo")
	t.Setenv("LC_ALL", "C.UTF-8")
	defer syscall.Umask(syscall.Umask(0o077))
	for name := range strings.SplitSeq(strings.TrimRight(string(files), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join("..", name))
		if errors.Is(err, os.ErrNotExist) {
			continue // removed, and not committed
		}
		to := filepath.Join(r.source, name)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o777)
		}
		if err != nil {
			t.Fatal(err)
		}
		write(t, to, string(text), 0o666)
	}
	return r.mustBuild(t)
}

func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

func checkEqual(t *testing.T, one, other release) {
	t.Helper()
	names := list(t, one.out)
	if !slices.Equal(names, list(t, other.out)) || len(names) != 6 {
		t.Fatalf("%v\n%v", names, list(t, other.out))
	}
	for _, name := range names {
		if !bytes.Equal(read(t, filepath.Join(one.out, name)), read(t, filepath.Join(other.out, name))) {
			t.Errorf("%s differs", name)
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// built returns the one file of a release whose name has an ending.
func (r release) built(t *testing.T, ending string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(r.out, "*"+ending))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v: %v of %v", err, found, list(t, r.out))
	}
	return found[0]
}

func checkArchive(t *testing.T, r release) {
	f, err := gzip.NewReader(bytes.NewReader(read(t, r.built(t, ".tar.gz"))))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	program := filepath.Join(t.TempDir(), "countersign")
	for archive := tar.NewReader(f); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || !h.ModTime.Equal(r.date) {
			t.Errorf("%+v", h)
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(h.Name, "/countersign") {
			write(t, program, string(text), h.FileInfo().Mode())
		}
	}
	if want := []string{"countersign-1.2.3/countersign", "countersign-1.2.3/LICENSE", "countersign-1.2.3/README.md", "countersign-1.2.3/THIRD-PARTY-LICENSES"}; !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
	said, err := output(t.Context(), "", program, "version", "--json")
	if err != nil || !strings.Contains(said, `"version":"v1.2.3","revision":"`+r.revision+`","go":"go1.`) {
		t.Errorf("%v: %s", err, said)
	}
	if bytes.Contains(read(t, program), []byte(os.Getenv("HOME")+"/")) {
		t.Error("the program has a path of this machine")
	}
}

func checkMaterials(t *testing.T, r release) {
	var document spdxDocument
	if err := json.Unmarshal(read(t, r.built(t, ".spdx.json")), &document); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	ids := map[string]bool{}
	for _, p := range document.Packages {
		found[p.Name] = p.LicenseDeclared
		if ids[p.ID] {
			t.Errorf("%s is there twice", p.ID)
		}
		ids[p.ID] = true
		if p.LicenseDeclared == unknown {
			t.Errorf("%s has no license that is recognized", p.Name)
		}
	}
	for name, want := range map[string]string{"countersign": "Apache-2.0", "stdlib": "BSD-3-Clause", "golang.org/x/crypto/x509roots/fallback": "BSD-3-Clause", "github.com/spf13/cobra": "Apache-2.0", "github.com/jackc/pgx/v5": "MIT"} {
		if found[name] != want {
			t.Errorf("%s: %q, want %s", name, found[name], want)
		}
	}
	if found["github.com/google/go-containerregistry"] != "" {
		t.Error("a module that only builds the release is in the list")
	}
	for _, relation := range document.Relationships {
		if relation.Type == "CONTAINS" && !ids[relation.Related] {
			t.Errorf("%+v", relation)
		}
	}
}

// What is not a file of the release is not in its sums, and a file that was changed is found.
func TestSumsAreThoseOfTheFiles(t *testing.T) {
	r := release{out: t.TempDir(), log: t.Output()}
	write(t, filepath.Join(r.out, "b"), "text", 0o644)
	write(t, filepath.Join(r.out, "a"), "", 0o644)
	if err := r.writeSums(); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%x  a\n%x  b\n", sha256.Sum256(nil), sha256.Sum256([]byte("text")))
	if got := string(read(t, filepath.Join(r.out, "SHA256SUMS"))); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

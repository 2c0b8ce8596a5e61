package keyfile

import (
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

func TestKeyFileRoundTrip(t *testing.T) {
	dir := t.TempDir()
	made := must.Get(Create(dir))(t)
	loaded := must.Get(Load(dir))(t)
	if !loaded.Matches(made.Check()) {
		t.Error("the key file that was read is not the one that was made")
	}
	text := must.Get(os.ReadFile(filepath.Join(dir, FileName)))(t)
	parsed, err := Parse(string(text))
	if err != nil || !parsed.Matches(made.Check()) {
		t.Errorf("the text of the file is another key: %v", err)
	}
	wantAlone(t, dir, FileName)
}

func TestTwoKeyFilesDiffer(t *testing.T) {
	a, errA := Create(t.TempDir())
	b, errB := Create(t.TempDir())
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if a.Matches(b.Check()) {
		t.Error("two new key files are the same")
	}
}

func TestKeyFileIsNeverReplaced(t *testing.T) {
	dir := t.TempDir()
	made := must.Get(Create(dir))(t)
	if _, err := Create(dir); !errors.Is(err, os.ErrExist) {
		t.Errorf("a second Create: %v, want os.ErrExist", err)
	}
	if loaded, err := Load(dir); err != nil || !loaded.Matches(made.Check()) {
		t.Errorf("the first key file is gone: %v", err)
	}
	wantAlone(t, dir, FileName)
}

func TestManyWhoCreateAtOnceGetOneKeyFile(t *testing.T) {
	dir := t.TempDir()
	var work sync.WaitGroup
	won := make(chan *Box, 20)
	for range cap(won) {
		work.Go(func() {
			box, err := Create(dir)
			if err == nil {
				won <- box
			} else if !errors.Is(err, os.ErrExist) {
				t.Error(err)
			}
			if _, err := Load(dir); err != nil { // whole, also for those who lost
				t.Errorf("a key file that is seen can't be read: %v", err)
			}
		})
	}
	work.Wait()
	expect.Equalf(t, len(won), 1, "made the key file")
	wantAlone(t, dir, FileName)
}

func TestMissingKeyFile(t *testing.T) {
	for name, load := range map[string]func(string) (*Box, error){"Load": Load, "LoadStaged": LoadStaged} {
		if _, err := load(t.TempDir()); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v, want os.ErrNotExist", name, err)
		}
	}
	if _, err := Create(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a key file was made in a folder that is not there")
	}
}

func TestTextsThatAreNoKeyFile(t *testing.T) {
	encoded := base64.RawURLEncoding.EncodeToString([]byte(strings.Repeat("k", keySize)))
	cases := []struct {
		name, text string
		ok         bool
	}{
		{"prefix and key", filePrefix + encoded, true},
		{"spaces around it", "\n " + filePrefix + encoded + "\r\n", true},
		{"nothing", "", false},
		{"no prefix", encoded, false},
		{"another version", strings.Replace(filePrefix, "1", "2", 1) + encoded, false},
		{"half of it", filePrefix + encoded[:20], false},
		{"a longer key", filePrefix + encoded + "kkkk", false},
		{"not base64", filePrefix + strings.Repeat("!", len(encoded)), false},
		{"two lines", filePrefix + encoded + "\n" + filePrefix + encoded, false},
		{"zeros, as after a power cut", strings.Repeat("\x00", 62), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse(c.text)
			if (err == nil) != c.ok {
				t.Errorf("error %v, want ok: %t", err, c.ok)
			}
			if err != nil && strings.Contains(err.Error(), encoded[:10]) {
				t.Errorf("the error %q shows the key", err)
			}
			dir := t.TempDir()
			must.Do(t, os.WriteFile(filepath.Join(dir, FileName), []byte(c.text), 0o600))
			if _, err := Load(dir); (err == nil) != c.ok {
				t.Errorf("Load: %v, want ok: %t", err, c.ok)
			} else if err != nil && !strings.Contains(err.Error(), dir) {
				t.Errorf("the error %q does not name the file", err)
			}
		})
	}
}

func TestStagedKeyFileWaitsBesideTheOneInPlace(t *testing.T) {
	dir := t.TempDir()
	old := must.Get(Create(dir))(t)
	abandoned := must.Get(Stage(dir))(t)
	fresh := must.Get(Stage(dir))(t)
	if fresh.Matches(abandoned.Check()) || fresh.Matches(old.Check()) {
		t.Error("the staged key is not new")
	}
	if placed, err := Load(dir); err != nil || !placed.Matches(old.Check()) {
		t.Errorf("staging touched the key file in place: %v", err)
	}
	if staged, err := LoadStaged(dir); err != nil || !staged.Matches(fresh.Check()) {
		t.Errorf("the staged file is not the last one: %v", err)
	}
	must.Do(t, Replace(dir))
	if placed, err := Load(dir); err != nil || !placed.Matches(fresh.Check()) {
		t.Errorf("after Replace: %v", err)
	}
	aside, err := os.ReadFile(filepath.Join(dir, FileName+"."+KeyName(old.Check())))
	if err != nil {
		t.Fatalf("the old key file was not kept: %v", err)
	}
	if kept, err := Parse(string(aside)); err != nil || !kept.Matches(old.Check()) {
		t.Errorf("the file that was kept is not the old one: %v", err)
	}
	if err := Replace(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Replace without a staged file: %v, want os.ErrNotExist", err)
	}
	if placed, err := Load(dir); err != nil || !placed.Matches(fresh.Check()) {
		t.Errorf("after a Replace that failed: %v", err)
	}
}

func TestReplaceKeepsAlsoWhatIsNoKeyFile(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, FileName), []byte("half a key"), 0o600))
	must.Get(Stage(dir))(t)
	must.Do(t, Replace(dir))
	kept, err := filepath.Glob(filepath.Join(dir, FileName+".*"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept are %v, %v", kept, err)
	}
	if text, err := os.ReadFile(kept[0]); err != nil || string(text) != "half a key" {
		t.Errorf("kept is %q, %v", text, err)
	}
}

func TestReplaceOfAMissingKeyFile(t *testing.T) {
	dir := t.TempDir()
	fresh := must.Get(Stage(dir))(t)
	must.Do(t, Replace(dir))
	if placed, err := Load(dir); err != nil || !placed.Matches(fresh.Check()) {
		t.Error(err)
	}
	wantAlone(t, dir, FileName)
}

// wantAlone wants one file in a folder, readable by its owner alone.
func wantAlone(t *testing.T, dir, name string) {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	if len(entries) != 1 || entries[0].Name() != name {
		t.Fatalf("the folder holds %v, want %s alone", entries, name)
	}
	info := must.Get(entries[0].Info())(t)
	if info.Mode() != 0o600 {
		t.Errorf("%s has mode %v, want 0600", name, info.Mode())
	}
}

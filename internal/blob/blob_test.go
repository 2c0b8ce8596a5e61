package blob

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
)

func testFolder(t *testing.T) (b *Bucket, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "media")
	b = must.Get(Open("file://" + filepath.ToSlash(dir)))(t)
	t.Cleanup(func() { _ = b.Close() })
	return b, dir
}

// filesIn returns the paths below a folder.
func filesIn(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			all = append(all, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return all
}

func TestAFileIsReadFromAnyPlace(t *testing.T) {
	b, dir := testFolder(t)
	if size, err := b.Write(t.Context(), "public/a.txt", strings.NewReader("rain and thunder")); err != nil || size != 16 {
		t.Fatal(size, err)
	}
	if got := filesIn(t, dir); !slices.Equal(got, []string{"public/a.txt"}) {
		t.Errorf("the folder has %q", got)
	}
	r := must.Get(b.Read(t.Context(), "public/a.txt"))(t)
	defer r.Close()
	must.Get(r.Seek(9, io.SeekStart))(t)
	if rest, err := io.ReadAll(r); string(rest) != "thunder" || err != nil {
		t.Errorf("%q, %v", rest, err)
	}
}

func TestOnlyTheOwnerReadsAFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("Windows has other permissions")
		return
	}
	b, dir := testFolder(t)
	must.Get(b.Write(t.Context(), "private/a", strings.NewReader("a")))(t)
	for name, want := range map[string]fs.FileMode{"": 0o700, "private": 0o700, "private/a": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%q: %v, %v", name, info.Mode().Perm(), err)
		}
	}
}

func TestAFileThatDoesNotArriveWholeIsNotThere(t *testing.T) {
	b, dir := testFolder(t)
	broken := errors.New("the client has left")
	for name, from := range map[string]io.Reader{
		"at once": iotest.ErrReader(broken),
		"later":   io.MultiReader(bytes.NewReader(make([]byte, 1<<20)), iotest.ErrReader(broken)),
	} {
		if _, err := b.Write(t.Context(), "public/a", from); !errors.Is(err, broken) || fault.Of(err) != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := filesIn(t, dir); len(got) > 0 {
			t.Errorf("%s: %q are left", name, got)
		}
	}
	if _, err := b.Read(t.Context(), "public/a"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}

func TestWhatIsMissingIsNotAFault(t *testing.T) {
	b, dir := testFolder(t)
	for range 2 { // without a folder, then with one
		if _, err := b.Read(t.Context(), "a"); !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
		expect.NoError(t, errors.Join(b.Delete(t.Context(), "a"), b.Check(t.Context())))
		if got := filesIn(t, dir); len(got) > 0 {
			t.Errorf("%q are left", got)
		}
		must.Do(t, os.MkdirAll(dir, 0o700))
	}
}

func TestKeysStayInTheirFolder(t *testing.T) {
	b, dir := testFolder(t)
	must.Get(b.Write(t.Context(), "public/a", strings.NewReader("a")))(t)
	must.Do(t, os.WriteFile(filepath.Join(filepath.Dir(dir), "secret"), []byte("secret"), 0o600))
	for _, key := range []string{"../secret", "public/../../secret", `..\secret`, "/../secret", "public", "."} {
		if r, err := b.Read(t.Context(), key); err == nil {
			r.Close()
			t.Errorf("%q can be read", key)
		}
	}
}

func TestWhatIsLeftOfAnUnfinishedFileIsRemovedWithIt(t *testing.T) {
	b, dir := testFolder(t)
	for _, key := range []string{"public/a.png", "public/a.png.17f00.tmp", "public/a.png.age", "public/b.png", "private/a.png"} {
		must.Get(b.Write(t.Context(), key, strings.NewReader(key)))(t)
	}
	must.Do(t, b.Delete(t.Context(), "public/a.png"))
	if got := filesIn(t, dir); !slices.Equal(got, []string{"private/a.png", "public/a.png.age", "public/b.png"}) {
		t.Errorf("the folder has %q", got)
	}
}

func TestAWrongURLIsRefused(t *testing.T) {
	for _, text := range []string{
		"", "media", "/var/media", "file://", "file:///", "file://host/media", "file:///media?create_dir=1",
		"s3://", "s3://bucket?colour=red", "s3://bucket?use_path_style=maybe", "s3://bucket?endpoint=objects.test:9000", "s3://bucket?endpoint=ftp://objects.test",
		"s3://bucket?endpoint=http://objects.test/path", "s3://bucket?region=%zz", "s3://key:secret@bucket", "mem://", "gs://bucket", "http://bucket", "file:///a\x00b",
	} {
		if b, err := Open(text); err == nil {
			t.Errorf("%q is %v", text, b)
		}
	}
}

// refused is a bucket that the credentials do not open.
func refused(t *testing.T) *Bucket {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "a")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "b")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	t.Cleanup(server.Close)
	b := must.Get(Open("s3://shop-media?region=eu-central-1&use_path_style=true&endpoint=" + server.URL))(t)
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func TestABucketThatRefusesIsUnavailable(t *testing.T) {
	b := refused(t)
	if b.String() != "s3://shop-media" {
		t.Error(b)
	}
	_, written := b.Write(t.Context(), "public/a", strings.NewReader("a"))
	_, read := b.Read(t.Context(), "public/a")
	for what, err := range map[string]error{"written": written, "read": read, "removed": b.Delete(t.Context(), "public/a"), "checked": b.Check(t.Context())} {
		if !fault.HasCode(err, CodeUnavailable) || !fault.IsUnavailable(err) || !strings.Contains(fault.Message(err), "s3://shop-media") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestAFolderThatCanNotBeWrittenIsUnavailable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	b := Folder(file)
	_, err := b.Write(t.Context(), "a", strings.NewReader("a"))
	for _, err := range []error{err, b.Check(t.Context())} {
		if !fault.HasCode(err, CodeUnavailable) || !strings.Contains(fault.Message(err), file) {
			t.Error(err)
		}
	}
}

func TestAFolderRefusesKeysThatLeaveIt(t *testing.T) {
	b, dir := testFolder(t)
	for _, key := range []string{"", ".", "..", "../a", "a/../../b", "a/../b", "/a", "a/", "a//b", "./a", "a\xff", "../media"} {
		if _, err := b.Write(t.Context(), key, strings.NewReader("a")); !fault.HasCode(err, CodeUnavailable) {
			t.Errorf("%q is written: %v", key, err)
		}
		if err := b.Delete(t.Context(), key); err == nil {
			t.Errorf("%q is deleted", key)
		}
	}
	if got := filesIn(t, filepath.Dir(dir)); len(got) > 0 {
		t.Errorf("%q are written", got)
	}
}

func TestAFileCanNotTakeThePlaceOfAFolder(t *testing.T) {
	b, dir := testFolder(t)
	must.Get(b.Write(t.Context(), "public/a", strings.NewReader("a")))(t)
	for _, key := range []string{"public", "public/a/b"} {
		if _, err := b.Write(t.Context(), key, strings.NewReader("b")); !fault.HasCode(err, CodeUnavailable) {
			t.Errorf("%q: %v", key, err)
		}
	}
	expect.NoError(t, b.Delete(t.Context(), "public"))
	if got := filesIn(t, dir); !slices.Equal(got, []string{"public/a"}) {
		t.Errorf("the folder has %q", got)
	}
}

package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
)

// inBoth runs a test with a folder and with a bucket of S3. left returns the keys of what is there.
func inBoth(t *testing.T, test func(t *testing.T, b *Bucket, left func() []string)) {
	t.Run("folder", func(t *testing.T) {
		b, dir := testFolder(t)
		test(t, b, func() []string { return filesIn(t, dir) })
	})
	t.Run("s3", func(t *testing.T) {
		t.Setenv("AWS_ACCESS_KEY_ID", "id")
		t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
		f := newFakeS3(t)
		test(t, f.open(t, "&prefix=shop/"), func() (all []string) {
			f.mu.Lock()
			defer f.mu.Unlock()
			for key := range f.objects {
				all = append(all, strings.TrimPrefix(key, "shop/"))
			}
			for part := range f.parts {
				all = append(all, "part "+part)
			}
			slices.Sort(all)
			return all
		})
	})
}

func TestFilesAreListedInTheOrderOfTheirKeys(t *testing.T) {
	inBoth(t, func(t *testing.T, b *Bucket, _ func() []string) {
		odd := "c ü&+%2f=#'__0x2f__"
		if runtime.GOOS != "windows" {
			odd += `?"<>*:\`
		}
		want := []string{"a", "b-c", "b.d", "b/c", "b/d/e", "b0", odd, "public/a"}
		for _, key := range []int{3, 7, 5, 0, 6, 2, 4, 1} {
			must.Get(b.Write(t.Context(), want[key], strings.NewReader(want[key])))(t)
		}
		for prefix, want := range map[string][]string{"": want, "b": want[1:6], "b/": want[3:5], "b/d": want[4:5], "b/d/e": want[4:5], "public/b": nil, "x/y": nil} {
			var got []string
			err := b.Each(t.Context(), prefix, func(key string, size int64) error {
				if size != int64(len(key)) {
					t.Errorf("%q has %d bytes", key, size)
				}
				got = append(got, key)
				return nil
			})
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%q: %q, want %q, %v", prefix, got, want, err)
			}
		}
		stop, calls := errors.New("stop"), 0
		if err := b.Each(t.Context(), "", func(string, int64) error { calls++; return stop }); err != stop || calls != 1 {
			t.Errorf("%v after %d calls", err, calls)
		}
		for _, key := range want {
			if r, err := b.Read(t.Context(), key); err != nil {
				t.Errorf("%q: %v", key, err)
			} else if text, err := io.ReadAll(r); string(text) != key || errors.Join(err, r.Close()) != nil {
				t.Errorf("%q is %q, %v", key, text, err)
			}
		}
	})
}

func TestOnlyTheFileOfAKeyIsReplacedAndDeleted(t *testing.T) {
	inBoth(t, func(t *testing.T, b *Bucket, left func() []string) {
		for _, key := range []string{"a/b", "a/bc", "a/b.age", "a/b"} {
			must.Get(b.Write(t.Context(), key, strings.NewReader(key)))(t)
		}
		if got := left(); !slices.Equal(got, []string{"a/b", "a/b.age", "a/bc"}) {
			t.Errorf("%q are there", got)
		}
		expect.NoError(t, errors.Join(b.Delete(t.Context(), "a/b"), b.Delete(t.Context(), "a/b"), b.Delete(t.Context(), "a"), b.Check(t.Context())))
		if got := left(); !slices.Equal(got, []string{"a/b.age", "a/bc"}) {
			t.Errorf("%q are left", got)
		}
		for _, key := range []string{"a/b", "a", "x/y"} {
			if _, err := b.Read(t.Context(), key); err != ErrNotFound {
				t.Errorf("%q: %v", key, err)
			}
		}
	})
}

func TestASeekLeadsToAnyPlace(t *testing.T) {
	inBoth(t, func(t *testing.T, b *Bucket, _ func() []string) {
		must.Get(b.Write(t.Context(), "a", strings.NewReader("rain and thunder")))(t)
		r, err := b.Read(t.Context(), "a")
		if err != nil || r.Size() != 16 {
			t.Fatal(r.Size(), err)
		}
		defer r.Close()
		expect.NoError(t, iotest.TestReader(r, []byte("rain and thunder")))
	})
}

func TestALargeFileIsWhole(t *testing.T) {
	inBoth(t, func(t *testing.T, b *Bucket, _ func() []string) {
		for _, size := range []int{0, onePut - 1, onePut, partSize + 1} {
			content := bytes.Repeat([]byte("0123456789abcdef-"), size/17+1)[:size]
			if got, err := b.Write(t.Context(), "a", iotest.HalfReader(bytes.NewReader(content))); err != nil || got != int64(size) {
				t.Fatalf("%d bytes of %d are written, %v", got, size, err)
			}
			r, err := b.Read(t.Context(), "a")
			if err != nil || r.Size() != int64(size) {
				t.Fatalf("%d bytes of %d, %v", r.Size(), size, err)
			}
			if got, err := io.ReadAll(r); !bytes.Equal(got, content) || errors.Join(err, r.Close()) != nil {
				t.Errorf("%d bytes of %d are read, %v", len(got), size, err)
			}
		}
	})
}

func TestAWriteThatEndsEarlyLeavesNothing(t *testing.T) {
	inBoth(t, func(t *testing.T, b *Bucket, left func() []string) {
		broken := io.ErrUnexpectedEOF // as of the body of a request whose client has left
		for _, size := range []int{0, 1, onePut + 1} {
			if _, err := b.Write(t.Context(), "public/a", io.MultiReader(bytes.NewReader(make([]byte, size)), iotest.ErrReader(broken))); !errors.Is(err, broken) || fault.Of(err) != nil {
				t.Errorf("an error after %d bytes: %v", size, err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			end := readerFunc(func([]byte) (int, error) { cancel(); return 0, io.EOF })
			if _, err := b.Write(ctx, "public/a", io.MultiReader(bytes.NewReader(make([]byte, size)), end)); err != context.Canceled {
				t.Errorf("canceled after %d bytes: %v", size, err)
			}
		}
		if got := left(); len(got) > 0 {
			t.Errorf("%q are left", got)
		}
	})
}

type readerFunc func([]byte) (int, error)

// Read implements [io.Reader].
func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestACanceledListIsNotComplete(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	f := newFakeS3(t)
	b := f.open(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	for _, key := range []string{"a", "b", "c"} {
		f.objects[key] = nil
	}
	if err := b.Each(ctx, "", func(string, int64) error { cancel(); return nil }); !fault.IsUnavailable(err) {
		t.Error(err)
	}
}

func TestAPartIsInMemoryAtATime(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	f := newFakeS3(t)
	f.refuse = func(r *http.Request) bool { return r.URL.Query().Get("partNumber") == "2" }
	b := f.open(t, "")
	_, err := b.Write(t.Context(), "a", io.LimitReader(readerFunc(func(p []byte) (int, error) { return len(p), nil }), 3*partSize))
	if !fault.HasCode(err, CodeUnavailable) {
		t.Error(err)
	}
	if f.largest != partSize || f.parts != nil || len(f.objects) > 0 {
		t.Errorf("the largest request has %d bytes; %d parts are left", f.largest, len(f.parts))
	}
}

func TestCredentialsAreFoundWhereToolsOfAWSFindThem(t *testing.T) {
	role := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/none" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, `{"AccessKeyId":"role","SecretAccessKey":"s","Token":"t","Expiration":"2999-01-01T00:00:00Z"}`)
	}))
	defer role.Close()
	file := filepath.Join(t.TempDir(), "credentials")
	text := "[default]\naws_access_key_id = file\naws_secret_access_key = s\n[second]\naws_access_key_id = second\naws_secret_access_key = s\naws_session_token = t2\n"
	must.Do(t, os.WriteFile(file, []byte(text), 0o600))
	env := map[string]string{"AWS_ACCESS_KEY_ID": "env", "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": "t1"}
	for name, tt := range map[string]struct {
		env        map[string]string
		parameters string
		id, token  string
	}{
		"environment":              {env, "", "env", "t1"},
		"environment and profile":  {env, "&profile=second", "second", "t2"},
		"file":                     {map[string]string{}, "", "file", ""},
		"profile in environment":   {map[string]string{"AWS_PROFILE": "second"}, "", "second", "t2"},
		"role of a container":      {map[string]string{"AWS_PROFILE": "third", "AWS_CONTAINER_CREDENTIALS_FULL_URI": role.URL}, "", "role", "t"},
		"nowhere sends no request": {map[string]string{"AWS_PROFILE": "third", "AWS_CONTAINER_CREDENTIALS_FULL_URI": role.URL + "/none"}, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, variable := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_CONTAINER_CREDENTIALS_FULL_URI"} {
				t.Setenv(variable, tt.env[variable])
			}
			t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
			t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "none"))
			f := newFakeS3(t)
			err := f.open(t, tt.parameters).Check(t.Context())
			if f.keyID != tt.id || f.token != tt.token || (err == nil) != (tt.id != "") {
				t.Errorf("key %q, token %q, %v", f.keyID, f.token, err)
			}
			if err != nil && !strings.Contains(fault.Message(err), "no credentials") {
				t.Error(err)
			}
		})
	}
}

func TestABucketIsPartOfThePathOrOfTheHost(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	for parameters, want := range map[string]string{
		"":                                   "https://shop-media.s3.dualstack.eu-central-1.amazonaws.com/a?",
		"&use_path_style=true":               "https://s3.dualstack.eu-central-1.amazonaws.com/shop-media/a?",
		"&endpoint=http://objects.test:9000": "http://shop-media.objects.test:9000/a?",
		"&use_path_style=true&endpoint=http://objects.test:9000": "http://objects.test:9000/shop-media/a?",
	} {
		b := must.Get(Open("s3://shop-media?region=eu-central-1" + parameters))(t)
		u, err := b.files.(*s3).client.PresignedGetObject(t.Context(), "shop-media", "a", time.Hour, nil)
		if err != nil || !strings.HasPrefix(u.String(), want) {
			t.Errorf("%s leads to %v, %v", parameters, u, err)
		}
	}
}

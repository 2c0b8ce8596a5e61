package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
)

// Doctor fails when a site serves the key file of its data folder, and only then.
func TestDoctorFetchesItsKeyFile(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	env := environment{envData: filepath.Join(base, "site", "shop"), envAddonData: filepath.Join(base, "site", "api-addons", "data")}
	for _, args := range [][]string{{"store", "workspace", "create", "ada"}, {"addon", "update"}} {
		if r := commandIn(t, env, args...); r.code != 0 {
			t.Fatal(r.err)
		}
	}
	other := t.TempDir()
	must.Get(keyfile.Create(other))(t)
	moved := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(base, "site"))))
	defer moved.Close()
	files := func(dir string) http.Handler { return http.FileServer(http.Dir(filepath.Join(base, dir))) }
	otherKey := must.Get(os.ReadFile(filepath.Join(other, keyfile.FileName)))(t)
	says := func(text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) })
	}
	cases := []struct {
		name, path string
		serve      http.Handler
		at         [2]string // where the keys of store and addon are found, "" for nowhere
	}{
		{"the web root is a parent", "", files("site"), [2]string{"/shop/countersign.key", "/api-addons/data/countersign.key"}},
		{"the web root is the data folder", "", files("site/shop"), [2]string{"/countersign.key", ""}},
		{"the site has a path", "/blog", http.StripPrefix("/blog", files("site")), [2]string{"/blog/shop/countersign.key", "/blog/api-addons/data/countersign.key"}},
		{"the site redirects", "", http.RedirectHandler(moved.URL+"/shop/countersign.key", http.StatusFound), [2]string{"/countersign.key", ""}},
		{"a page answers everything", "", says("<html>countersign-key-1:</html>"), [2]string{}},
		{"another key file answers everything", "", says(string(otherKey)), [2]string{}},
		{"nothing is there", "", http.NotFoundHandler(), [2]string{}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := httptest.NewServer(c.serve)
			defer s.Close()
			r := commandIn(t, env, "doctor", "--base-url", s.URL+c.path, "--addon-base-url", s.URL+c.path)
			want := cli.ExitOK
			for _, at := range c.at {
				if at != "" {
					want = cli.ExitNo
					if line := "FAIL web access Anyone can download the key file at " + s.URL + at; !slices.Contains(lines(r.out), line) {
						t.Errorf("no line %q", line)
					}
				}
			}
			if r.code != want || strings.Contains(r.out, "countersign-key-1") || strings.Contains(r.err, "countersign-key-1") {
				t.Errorf("exit %d, want %d: %s%s", r.code, want, r.out, r.err)
			}
			if want == cli.ExitOK && strings.Count(strings.Join(lines(r.out), "\n"), "web access The key file was not found on the web at "+s.URL) != 2 {
				t.Errorf("it does not say that it looked: %s", r.out)
			}
		})
	}
}

func TestDoctorSaysThatASiteDoesNotAnswer(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	dir := filepath.Join(t.TempDir(), "data")
	mustRun(t, dir, "store", "workspace", "create", "ada")
	r := commandIn(t, environment{envData: dir, envURL: s.URL}, "doctor")
	if r.code != cli.ExitOK || !strings.Contains(r.out, "skipped  web access ") || !strings.Contains(r.out, "connection refused") {
		t.Errorf("exit %d, %s%s", r.code, r.out, r.err)
	}
	if r := command(t, dir, "doctor", "--addon-base-url", "site.example"); r.code != cli.ExitUsage || !strings.Contains(r.err, "--addon-base-url: invalid web address") {
		t.Errorf("exit %d, %s", r.code, r.err)
	}
}

func TestSiteAddress(t *testing.T) {
	for _, c := range []struct{ given, served, want string }{
		{"https://a.example", "https://b.example", "https://a.example"},
		{"", "https://b.example", "https://b.example"},
		{"", "http://127.0.0.1:8081", ""},
		{"", "http://[::1]:8081", ""},
		{"", "", ""},
	} {
		expect.Equalf(t, siteAddress(c.given, c.served), c.want, "given %q, served %q", c.given, c.served)
	}
}

func TestKeyPathsAreTheEndsOfTheFolder(t *testing.T) {
	want := []string{"/countersign.key", "/x/countersign.key", "/data/countersign.key", "/x/data/countersign.key", "/srv-none/data/countersign.key", "/x/srv-none/data/countersign.key"}
	if got := keyPaths("/srv-none/data", "/x/"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// lines are those of a table, with one space between its columns.
func lines(table string) (all []string) {
	for line := range strings.Lines(table) {
		all = append(all, strings.Join(strings.Fields(line), " "))
	}
	return all
}

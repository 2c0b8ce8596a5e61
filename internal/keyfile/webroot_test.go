package keyfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

func TestFindWebRoot(t *testing.T) {
	cases := []struct {
		name   string
		files  []string
		dir    string
		root   string // "" for none
		marker string
	}{
		{"beside an index.php", []string{"site/index.php"}, "site/data", "site", "site/index.php"},
		{"beside an index.html", []string{"site/index.html"}, "site/data", "site", "site/index.html"},
		{"beside a .htaccess", []string{"site/.htaccess"}, "site/data", "site", "site/.htaccess"},
		{"beside a wp-config.php", []string{"site/wp-config.php"}, "site/data", "site", "site/wp-config.php"},
		{"in the folder of update.php", []string{"api-addons/update.php"}, "api-addons/data", "api-addons", "api-addons/update.php"},
		{"the web root itself", []string{"site/index.php"}, "site", "site", "site/index.php"},
		{"far below one", []string{"site/index.php"}, "site/a/b/c/data", "site", "site/index.php"},
		{"the highest counts, for a folder outside of all", []string{"site/index.php", "site/blog/wp-config.php"}, "site/blog/data", "site", "site/index.php"},
		{"beside the web root", []string{"site/public/index.php"}, "site/data", "", ""},
		{"without any", nil, "site/data", "", ""},
		{"a folder of that name is not a file", []string{"site/index.php/x"}, "site/data", "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			base := t.TempDir()
			for _, file := range c.files {
				writeFile(t, filepath.Join(base, file))
			}
			got, found := FindWebRoot(filepath.Join(base, c.dir))
			if found != (c.root != "") {
				t.Fatalf("found %+v", got)
			}
			if !found {
				return
			}
			want := WebRoot{filepath.Join(base, c.root), filepath.Join(base, c.marker), filepath.Join(base, filepath.Base(c.dir))}
			if c.dir == "site" {
				want.Outside += "-data"
			}
			expect.Equalf(t, got, want, "found")
			if in, bad := FindWebRoot(got.Outside); bad {
				t.Errorf("the folder %s outside is in %s", got.Outside, in.Dir)
			}
		})
	}
}

func writeFile(t *testing.T, path string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(t, os.WriteFile(path, nil, 0o644))
}

func TestLinksLeadIntoAWebRootFromBothSides(t *testing.T) {
	base := t.TempDir()
	writeFile(t, filepath.Join(base, "site", "index.php"))
	for _, dir := range []string{"work", "real"} {
		must.Do(t, os.Mkdir(filepath.Join(base, dir), 0o755))
	}
	for link, to := range map[string]string{"work/there": "site", "site/data": "real"} {
		must.Do(t, os.Symlink(filepath.Join(base, to), filepath.Join(base, link)))
	}
	for _, dir := range []string{"work/there/new/data", "site/data"} {
		if err := OutsideWeb(filepath.Join(base, dir)); codeOf(err) != "in_web_root" || !strings.Contains(err.Error(), "index.php") {
			t.Errorf("%s: %v", dir, err)
		}
	}
	expect.NoError(t, OutsideWeb(filepath.Join(base, "real")))
}

package countersign_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/must"
)

func readText(t *testing.T, path string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(path))(t))
}

// A promise whose test was renamed or removed is a promise without a test.
func TestSecurityNamesTestsThatExist(t *testing.T) {
	named := 0
	for _, line := range strings.Split(readText(t, "SECURITY.md"), "\n") {
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		for _, m := range regexp.MustCompile("`([a-z0-9_./]+/[a-z0-9_./]+)`").FindAllStringSubmatch(line, -1) {
			if _, err := os.Stat(m[1]); err != nil {
				t.Error(err)
			}
			named++
		}
	}
	if named < 20 {
		t.Errorf("SECURITY.md names %d tests", named)
	}
}

func TestContributorsAreToldOfFilesThatExist(t *testing.T) {
	files := map[string]bool{}
	_ = filepath.WalkDir(".", func(path string, _ fs.DirEntry, _ error) error {
		files[filepath.Base(path)] = true
		return nil // also where the harness's database lies, which others can't read
	})
	named := regexp.MustCompile("`([a-zA-Z0-9_./]+\\.go)`").FindAllStringSubmatch(readText(t, "CONTRIBUTING.md"), -1)
	if len(named) < 10 {
		t.Errorf("CONTRIBUTING.md names %d files", len(named))
	}
	for _, m := range named {
		if !files[filepath.Base(m[1])] {
			t.Errorf("there is no %s", m[1])
		}
	}
}

var (
	mdLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	mdHeading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	mdCode    = regexp.MustCompile("(?ms)^```.*?^```$")
	notAnchor = regexp.MustCompile(`[^\pL\pN _-]`)
)

// anchors lists what links can lead to on a page, as GitHub makes it of headings.
func anchors(text string) (all []string) {
	for _, m := range mdHeading.FindAllStringSubmatch(mdCode.ReplaceAllString(text, ""), -1) {
		all = append(all, strings.ReplaceAll(notAnchor.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return all
}

func TestLinksOfTheManualsLeadSomewhere(t *testing.T) {
	t.Parallel()
	pages := must.Get(filepath.Glob("docs/*.md"))(t)
	roots := must.Get(filepath.Glob("*.md"))(t)
	for _, page := range append(roots, pages...) {
		for _, m := range mdLink.FindAllStringSubmatch(mdCode.ReplaceAllString(readText(t, page), ""), -1) {
			path, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(path, "://") {
				continue
			}
			target := page
			if path != "" {
				target = filepath.Join(filepath.Dir(page), path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			} else if anchor != "" && !slices.Contains(anchors(readText(t, target)), anchor) {
				t.Errorf("%s links to %s, which has no such heading", page, m[1])
			}
		}
	}
}

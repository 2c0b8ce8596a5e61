package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/docs"
	"github.com/countersign/countersign/internal/must"
)

var (
	href = regexp.MustCompile(`href="([^"]*)"`)
	id   = regexp.MustCompile(`id="([^"]*)"`)
)

func manuals(t *testing.T) []docs.Manual {
	t.Helper()
	return must.Get(docs.Render("/shop/docs"))(t)
}

func TestEveryManualHasATitleASummaryAndSections(t *testing.T) {
	for _, m := range manuals(t) {
		if m.Title == "" || m.Summary == "" || len(m.Sections) == 0 || strings.Contains(m.HTML, "<h1") {
			t.Errorf("%s: title %q, summary %q, %d sections", m.Name, m.Title, m.Summary, len(m.Sections))
		}
	}
}

func TestEveryLinkBetweenTheManualsLeadsToAHeadingOrAPage(t *testing.T) {
	ids := map[string]bool{}
	for _, m := range manuals(t) {
		ids["/shop/docs/"+m.Name] = true
		for _, match := range id.FindAllStringSubmatch(m.HTML, -1) {
			ids["/shop/docs/"+m.Name+"#"+match[1]] = true
		}
	}
	for _, m := range manuals(t) {
		for _, match := range href.FindAllStringSubmatch(m.HTML, -1) {
			target := match[1]
			if strings.HasPrefix(target, "#") {
				target = "/shop/docs/" + m.Name + target
			}
			if !strings.Contains(target, "://") && !ids[target] {
				t.Errorf("%s links to %q, which does not exist", m.Name, match[1])
			}
		}
	}
}

func TestNoLineBreaksInAFlag(t *testing.T) {
	for _, m := range manuals(t) {
		if m.Name == "addon-reference" && !strings.Contains(m.HTML, `<code class="whitespace-nowrap">--trusted-proxy</code>`) {
			t.Error("the name of a flag may break after its hyphens")
		}
		if strings.Contains(m.HTML, "<code>--trusted-proxy</code>") {
			t.Errorf("%s: the name of a flag may break after its hyphens", m.Name)
		}
	}
}

func TestNoManualHasHTMLOfItsOwn(t *testing.T) {
	for _, m := range manuals(t) {
		for _, tag := range []string{"<script", "<style", "<iframe", " style=", " onclick=", "raw HTML omitted"} {
			if strings.Contains(m.HTML, tag) {
				t.Errorf("%s has %s", m.Name, tag)
			}
		}
	}
}

// The files link to each other and to the source code, for those who read them there.
func TestEveryLinkOfTheFilesLeadsToAFile(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	files, err := filepath.Glob("*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		source := must.Get(os.ReadFile(file))(t)
		for _, match := range link.FindAllStringSubmatch(string(source), -1) {
			if _, err := os.Stat(match[1]); err != nil {
				t.Errorf("%s links to %s: %v", file, match[1], err)
			}
		}
	}
}

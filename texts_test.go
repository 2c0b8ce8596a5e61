package countersign_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/must"
)

// unclear are phrases that sound translated, and words with two meanings. "There is no" and
// "is no" have shorter forms: "No such file", "not a file". In place of "made" and "good",
// texts say "created" and "valid". Nothing "gives": it returns, prints or has, and a person uses a flag.
var unclear = regexp.MustCompile(`(?i)\b(?:is|are) no (?:[^l]|l[^o]|lo[^n])|\b(?:is|are) none\b|\bis none of\b` +
	`|\btells (?:whether|how|what|when|which|who|why|programs)\b|\bpretended\b|\b(?:whoever|whatever|whichever|that which)\b` +
	`|\bof another make\b|\b(?:is|are|was|were|be|been) (?:made|good)\b|\bmakes? (?:a|one|new) |\b(?:look at|look with)\b|\bused? it up\b` +
	`|\bgives\b|\bgive (?:a|an|at|one|the|this|--)|\bthere (?:is|are) (?:none|nothing)\b`)

// comment is a line of a template that no page shows.
var comment = regexp.MustCompile(`(?m)^\s*//.*$`)

// TestTextsArePlain reads every string of the program and every template of a page.
func TestTextsArePlain(t *testing.T) {
	t.Parallel()
	texts := 0
	must.Do(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		switch {
		case strings.HasSuffix(path, ".templ"), isManual(path), entry.Name() == "openapi.json":
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			texts++
			wantPlain(t, path, comment.ReplaceAllString(string(text), ""))
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && !strings.HasSuffix(path, "_templ.go"):
			n, err := wantPlainStrings(t, path)
			texts += n
			return err
		}
		return nil
	}))
	if texts < 1000 {
		t.Errorf("only %d texts were found", texts)
	}
}

// isManual reports whether a file is for users, and so a page of the documentation.
func isManual(path string) bool {
	return path == "README.md" || path == "SECURITY.md" || filepath.Dir(path) == "docs" && filepath.Ext(path) == ".md" && path != "docs/decisions.md"
}

// wantPlainStrings checks the string literals of a file and returns how many it has.
func wantPlainStrings(t *testing.T, path string) (n int, err error) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return 0, err
	}
	ast.Inspect(file, func(node ast.Node) bool {
		if text, ok := node.(*ast.BasicLit); ok && text.Kind == token.STRING {
			n++
			wantPlain(t, files.Position(text.Pos()).String(), text.Value)
		}
		return true
	})
	return n, nil
}

func wantPlain(t *testing.T, where, text string) {
	t.Helper()
	for _, at := range unclear.FindAllStringIndex(text, -1) {
		t.Errorf("%s: %q in …%s…", where, strings.TrimSpace(text[at[0]:at[1]]), text[max(0, at[0]-60):min(len(text), at[1]+60)])
	}
}

package countersign_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unclear are phrases that sound translated. "There is no" and "is no" have shorter forms:
// "No such file", "not a file".
var unclear = regexp.MustCompile(`\bis no (?:[^l]|l[^o]|lo[^n])|\bis none of\b|\btells whether\b|\bpretended\b`)

// TestTextsArePlain reads every string of the program and every template of a page.
func TestTextsArePlain(t *testing.T) {
	texts := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		switch {
		case strings.HasSuffix(path, ".templ"):
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			texts++
			wantPlain(t, path, string(text))
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && !strings.HasSuffix(path, "_templ.go"):
			n, err := wantPlainStrings(t, path)
			texts += n
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if texts < 1000 {
		t.Errorf("only %d texts were found", texts)
	}
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

// promises are what texts must not say before it exists.
var promises = regexp.MustCompile(`(?i)simulated store|test store|nobody pays`)

// TestNothingPromisesTheSimulatedStore reads what people read. The test goes when the
// simulated store comes.
func TestNothingPromisesTheSimulatedStore(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.Name() == "node_modules" {
			return filepath.SkipDir
		}
		read := slices.Contains([]string{".go", ".templ", ".md", ".json"}, filepath.Ext(path)) && path != "texts_test.go" && !strings.HasSuffix(path, "_templ.go")
		if err != nil || entry.IsDir() || !read {
			return err
		}
		text, err := os.ReadFile(path)
		if found := promises.Find(text); found != nil {
			t.Errorf("%s says %q", path, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func wantPlain(t *testing.T, where, text string) {
	t.Helper()
	if found := unclear.FindString(text); found != "" {
		t.Errorf("%s: %q in %.200s", where, strings.TrimSpace(found), text)
	}
}

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/must"
)

// named are commands that texts name. "countersign store" alone is no more than a noun.
var named = regexp.MustCompile("countersign ((?:store|addon|app)(?: [a-z]+(?:-[a-z]+)*)+)")

// TestCommandsThatTextsNameExist reads every text of the program and of the manuals. A
// command that does not exist leads nobody on.
func TestCommandsThatTextsNameExist(t *testing.T) {
	root, found := newRoot(&app{Console: &cli.Console{}}), 0
	must.Do(t, filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if entry != nil && entry.Name() == "node_modules" {
				return filepath.SkipDir
			}
			return err
		}
		read := slices.Contains([]string{".go", ".templ", ".md"}, filepath.Ext(path))
		if !read || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_templ.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			found++
			if missing := missingCommand(root, strings.Fields(m[1])); missing != "" {
				t.Errorf("%s names %q, and %q is not a command", path, m[0], missing)
			}
		}
		return err
	}))
	if found < 150 {
		t.Errorf("only %d commands were found", found)
	}
}

// missingCommand returns the first word that does not name a command of the group before it, "" for
// words that lead to one.
func missingCommand(c *cobra.Command, words []string) string {
	for _, word := range words {
		at := slices.IndexFunc(c.Commands(), func(sub *cobra.Command) bool { return sub.Name() == word })
		switch {
		case at >= 0:
			c = c.Commands()[at]
		case c.HasSubCommands():
			return word
		default:
			return "" // an argument, or the sentence goes on
		}
	}
	return ""
}

package store_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
)

// Every action that a package of the store declares is in the list, which front ends offer
// as a filter.
func TestActionsAreListed(t *testing.T) {
	found := 0
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || !isAction(spec.Type) {
				return true
			}
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if found++; err != nil || !slices.Contains(store.Actions(), people.Action(text)) {
				t.Errorf("%s: %s is not in the list of actions", path, text)
			}
			return true
		})
		return nil
	})
	if err != nil || found < 20 {
		t.Errorf("%d actions, %v", found, err)
	}
}

func isAction(of ast.Expr) bool {
	name, ok := of.(*ast.SelectorExpr)
	return ok && name.Sel.Name == "Action"
}

package storedb

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/sqldb"
)

// ItemFilter narrows a list of items; zero values narrow nothing.
type ItemFilter struct {
	Kind Kind
	// Name and Category are texts in the name and the category. Capitals among a to z are
	// small letters.
	Name, Category string
	// After and Before are ids: the page begins behind the item After, or ends before the
	// item Before.
	After, Before int64
	Limit         int
}

// wildcards are the characters of a LIKE pattern that stand for themselves in a text.
var wildcards = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// conditions is the SQL of the filter without its place for a workspace, which is $1, and
// its arguments.
func (f ItemFilter) conditions(workspace int64) (where string, args []any) {
	where, args = "workspace_id = $1", []any{workspace}
	add := func(condition string, value any) {
		args = append(args, value)
		where += fmt.Sprintf(" AND "+condition, len(args))
	}
	if f.Kind != "" {
		add("kind = $%d", string(f.Kind))
	}
	if f.Name != "" {
		add(`lower(name) LIKE $%d ESCAPE '\'`, "%"+wildcards.Replace(f.Name)+"%")
	}
	if f.Category != "" {
		add(`lower(category) LIKE $%d ESCAPE '\'`, "%"+wildcards.Replace(f.Category)+"%")
	}
	return where, args
}

// ItemPage lists a workspace's items, newest id first, from the place of the filter on.
func (d *DB) ItemPage(ctx context.Context, workspace int64, f ItemFilter) ([]Item, error) {
	where, args := f.conditions(workspace)
	order := "id DESC"
	switch {
	case f.Before != 0:
		args, order = append(args, f.Before), "id"
		where += fmt.Sprintf(" AND id > $%d", len(args))
	case f.After != 0:
		args = append(args, f.After)
		where += fmt.Sprintf(" AND id < $%d", len(args))
	}
	args = append(args, f.Limit)
	// The search reads an index that has what it looks at: whole items are many times as long.
	list, err := sqldb.List(ctx, d.Queries, scanItem,
		fmt.Sprintf(`SELECT %s FROM items WHERE id IN (SELECT id FROM items WHERE %s ORDER BY %[3]s LIMIT $%d) ORDER BY %[3]s`, itemColumns, where, order, len(args)), args...)
	if f.Before != 0 {
		slices.Reverse(list)
	}
	return list, err
}

// CountItems returns how many of a workspace's items a filter wants, most at most.
func (d *DB) CountItems(ctx context.Context, workspace int64, f ItemFilter, most int) (int64, error) {
	where, args := f.conditions(workspace)
	args = append(args, most)
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64],
		fmt.Sprintf(`SELECT count(*) FROM (SELECT 1 FROM items WHERE %s LIMIT $%d) few`, where, len(args)), args...)
}

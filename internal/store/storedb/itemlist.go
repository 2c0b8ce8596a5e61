package storedb

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/sqldb"
)

// ItemOrder is the property by which a list of items is sorted.
type ItemOrder string

// The orders. Items that are equal in one are in the order of their ids.
const (
	ItemsByID          ItemOrder = ""
	ItemsByName        ItemOrder = "name"
	ItemsByPrice       ItemOrder = "price"
	ItemsByPublication ItemOrder = "published"
)

// ItemFilter narrows a list of items, and is its order; zero values narrow nothing.
type ItemFilter struct {
	Kind Kind
	// Name and Category are texts in the name and the category. Capitals among a to z are
	// small letters.
	Name, Category string
	// Tag is one of the tags as a whole, in such letters.
	Tag string
	// PublishedBy is a time: items that are published then, or with NotPublished those that are not yet.
	PublishedBy  countersign.Timestamp
	NotPublished bool
	// IDs are the items to choose from, nil for all.
	IDs []int64
	// Order begins with the least, but that by id with the newest; Backwards reverses it.
	Order     ItemOrder
	Backwards bool
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
	if f.Tag != "" {
		text, err := json.Marshal(f.Tag) // as the column has it
		if err != nil {
			panic(err) // a text
		}
		add(`lower(tags) LIKE $%d ESCAPE '\'`, "%"+wildcards.Replace(string(text))+"%")
	}
	switch {
	case f.PublishedBy.IsZero():
	case f.NotPublished:
		add("published_at > $%d", column(&f.PublishedBy))
	default:
		add("published_at <= $%d", column(&f.PublishedBy))
	}
	if f.IDs != nil {
		where += " AND id IN (NULL"
		for _, id := range f.IDs {
			args = append(args, id)
			where += fmt.Sprintf(", $%d", len(args))
		}
		where += ")"
	}
	return where, args
}

// sortKey returns the expression by which the order sorts, and that of a value to compare with it.
func (o ItemOrder) sortKey() (column, value string) {
	switch o {
	case ItemsByName:
		return "lower(name)", "lower($%d)"
	case ItemsByPrice:
		return "regular", "$%d"
	case ItemsByPublication:
		return "published_at", "$%d"
	}
	return "id", "$%d"
}

// sortValue is the value of an item in the order.
func (o ItemOrder) sortValue(i Item) any {
	switch o {
	case ItemsByName:
		return i.Name
	case ItemsByPrice:
		return int64(i.Price.Regular)
	case ItemsByPublication:
		return column(&i.PublishedAt)
	}
	return i.ID
}

// ItemPage lists a workspace's items in the order of the filter. beside is the item After or Before.
func (d *DB) ItemPage(ctx context.Context, workspace int64, f ItemFilter, beside Item) ([]Item, error) {
	where, args := f.conditions(workspace)
	descending := f.Backwards != (f.Order == ItemsByID)
	if f.Before != 0 {
		descending = !descending // from the place on, to be turned round
	}
	direction, sign := "", ">"
	if descending {
		direction, sign = " DESC", "<"
	}
	key, value := f.Order.sortKey()
	if beside.ID != 0 {
		args = append(args, f.Order.sortValue(beside), beside.ID)
		where += fmt.Sprintf(" AND (%s, id) %s ("+value+", $%d)", key, sign, len(args)-1, len(args))
	}
	args = append(args, f.Limit)
	// The search reads an index that has what it looks at: whole items are many times as long.
	list, err := sqldb.List(ctx, d.Queries, scanItem,
		fmt.Sprintf(`SELECT %s FROM items WHERE id IN (SELECT id FROM items WHERE %s ORDER BY %[3]s%[4]s, id%[4]s LIMIT $%[5]d) ORDER BY %[3]s%[4]s, id%[4]s`,
			itemColumns, where, key, direction, len(args)), args...)
	if f.Before != 0 {
		slices.Reverse(list)
	}
	return list, err
}

// SalesOfItems returns how many purchases each of some items has, most at most.
func (d *DB) SalesOfItems(ctx context.Context, items []Item, most int) (map[int64]int64, error) {
	sales := map[int64]int64{}
	if len(items) == 0 {
		return sales, nil
	}
	args, marks := []any{most}, make([]string, len(items))
	for n, i := range items {
		args = append(args, i.ID)
		marks[n] = fmt.Sprintf("$%d", len(args))
	}
	return sales, sqldb.Each(ctx, d.Queries, func(r sqldb.Row) (sold [2]int64, err error) {
		err = r.Scan(&sold[0], &sold[1])
		return sold, err
	}, func(sold [2]int64) error {
		sales[sold[0]] = sold[1]
		return nil
	}, `SELECT i.id, (SELECT count(*) FROM (SELECT 1 FROM purchases p WHERE p.item_id = i.id LIMIT $1) few)
		FROM items i WHERE i.id IN (`+strings.Join(marks, ", ")+`)`, args...)
}

// CountItems returns how many of a workspace's items a filter wants, most at most.
func (d *DB) CountItems(ctx context.Context, workspace int64, f ItemFilter, most int) (int64, error) {
	where, args := f.conditions(workspace)
	args = append(args, most)
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64],
		fmt.Sprintf(`SELECT count(*) FROM (SELECT 1 FROM items WHERE %s LIMIT $%d) few`, where, len(args)), args...)
}

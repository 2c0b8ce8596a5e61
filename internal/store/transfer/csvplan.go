package transfer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/storedb"
)

// CSVOptions says how an import reads CSV. The first row names the columns. A file has
// purchases when a column is a purchase code, else items. What no column has stays as it is.
type CSVOptions struct {
	// Workspace is the username of the workspace that the rows belong to; it may be "" in a
	// store with one workspace.
	Workspace string
	// Map has the field of a column by the column's name, "" for a column to ignore. Columns
	// that it does not have are those of the last import with this header, or known by their names.
	Map map[string]string
	// Set has the value of a field for all rows, by the field's name.
	Set map[string]string
	// Encoding is EncodingWindows1252, or "" for what the file shows.
	Encoding string `json:",omitempty"`
	// Dates is the order of day and month.
	Dates DateOrder `json:",omitempty"`
	// Cents is whether amounts are in hundredths.
	Cents bool `json:",omitempty"`
	// States has what words of the column of states mean, StateSkipped among others. Usual words are
	// known. An empty map is that of the last import with this header.
	States map[string]storedb.State `json:",omitempty"`
	// IgnoreStates is whether columns may be ignored that speak of refunds and the like.
	IgnoreStates bool `json:",omitempty"`
	// IgnoreOthers ignores the columns that are not known.
	IgnoreOthers bool `json:",omitempty"`
	// Items has the ids of the items that texts in the column of the item mean. Ids and names of
	// items are known. An empty map is that of the last import with this header.
	Items map[string]int64 `json:",omitempty"`
	// Split makes a purchase of each code of a row that has several.
	Split bool `json:",omitempty"`
}

// CSVReport describes how an import has read CSV.
type CSVReport struct {
	Separator string `json:"separator"`
	Encoding  string `json:"encoding"`
	// Dates is the order of day and month in all columns, if the options or the rows have one.
	Dates DateOrder `json:"dates,omitempty"`
	// Shop is the name of the shop whose export the file is, "" for none that is known.
	Shop string `json:"shop,omitempty"`
	// Cents reports that amounts are in the smallest coins of their currency.
	Cents bool `json:"cents,omitempty"`
	// UnknownStates and UnknownItems are the first texts of which nobody has said what they mean.
	UnknownStates []string `json:"unknown_states,omitempty"`
	UnknownItems  []string `json:"unknown_items,omitempty"`
	// Columns are in the order of the file.
	Columns []CSVColumn `json:"columns"`
	// Remembered reports that the columns are those of an earlier import with this header.
	Remembered bool `json:"remembered"`
}

// CSVColumn is a column and what it was read as, "" when it was ignored.
type CSVColumn struct {
	Name  string `json:"name"`
	Field string `json:"field"`
	// Dates is the order of day and month that the rows have in this column, if they have one.
	Dates DateOrder `json:"dates,omitempty"`
}

// csvPlan is how the rows of a file are read.
type csvPlan struct {
	header    []string
	fields    []string // of the columns, "" for one that is ignored
	workspace storedb.Workspace
	fieldOf   map[string]string // as CSVOptions.Map, by folded names
	set       map[string]string // as CSVOptions.Set
	reading   reading
	// ignoreStates and ignoreOthers are as in CSVOptions.
	ignoreStates, ignoreOthers, split bool
	items                             itemNames
	shop                              *shop              // nil for none that is known
	shopFields                        map[string]string  // as fieldOf, for the export of the shop
	order                             int                // the column that rows of an order share, from 1, 0 for none
	refunds                           map[string]*refund // by folded codes, for files with rows about other rows
	watched                           []int              // the ignored columns whose cells are looked at
	orders                            orders
	sums                              bool // the price of a row is that of its whole order
	sale                              func(cells []string) (purchaseLine, error)
	stage                             func(ctx context.Context, line int, cells []string) error
}

// reasonColumn is the last column of rejected rows, which is ignored when they come back.
const reasonColumn = "reason"

func badColumns(format string, args ...any) error {
	return fault.Invalid("csv_columns", fmt.Sprintf(format, args...))
}

// planCSV reads the header and decides what the columns are.
func (imp *importer) planCSV(ctx context.Context, r *csvReader) (*csvPlan, error) {
	p, err := imp.readHeader(ctx, r)
	if err != nil {
		return nil, err
	}
	if p.hasPurchases() {
		err = imp.planPurchases(p)
	} else {
		err = imp.planItems(p)
	}
	for i, field := range p.fields {
		imp.report.CSV.Columns = append(imp.report.CSV.Columns, CSVColumn{Name: p.header[i], Field: field})
	}
	return p, err
}

// someNames is a list of names for a message, at most a few of them.
func someNames(names []string) string {
	const few = 20
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d others", strings.Join(names[:few], ", "), len(names)-few)
}

func trimmed(cells []string) []string {
	list := make([]string, len(cells))
	for i, cell := range cells {
		list[i] = strings.TrimSpace(cell)
	}
	return list
}

func folded(columns map[string]string) map[string]string {
	all := make(map[string]string, len(columns))
	for name, field := range columns {
		all[fold(name)] = field
	}
	return all
}

// csvWorkspace returns the named workspace, or the only one.
func (imp *importer) csvWorkspace(ctx context.Context, username string) (storedb.Workspace, error) {
	if username != "" {
		return access.Workspace(ctx, imp.session, imp.actor, username, access.Manage)
	}
	all, err := imp.session.Workspaces(ctx)
	switch {
	case err != nil:
		return storedb.Workspace{}, err
	case len(all) == 0:
		return storedb.Workspace{}, fault.Invalid("csv_workspace", "The store has no workspace yet; rows of CSV belong to one")
	case len(all) > 1:
		return storedb.Workspace{}, fault.Invalid("csv_workspace", "The store has several workspaces, so the import has to name the one that the rows belong to")
	}
	return all[0], nil
}

// target is the field that a column is to be, "" for none.
func (p *csvPlan) target(i int) string {
	name := fold(p.header[i])
	if field, ok := p.fieldOf[name]; ok {
		return field
	}
	if field, ok := p.shopFields[name]; ok {
		return field
	}
	if name == reasonColumn && i == len(p.header)-1 || name == stateField && p.hasAddress() {
		return ""
	}
	return p.header[i]
}

// hasAddress reports whether columns are a buyer's address: a column State is then a part of it.
func (p *csvPlan) hasAddress() bool {
	return slices.ContainsFunc(p.header, func(name string) bool {
		return slices.Contains([]string{"city", "country", "zip", "zipcode", "postcode", "postalcode", "zippostalcode"}, fold(name))
	})
}

// checkNames holds the mapping to columns that are there.
func (p *csvPlan) checkNames() error {
	known := foldedSet(p.header)
	for _, name := range slices.Sorted(maps.Keys(p.fieldOf)) {
		if !known[name] {
			return badColumns("No column %.100q; the columns are: %s", name, someNames(p.header))
		}
	}
	return nil
}

// hasPurchases reports whether a column is a purchase code.
func (p *csvPlan) hasPurchases() bool {
	for i := range p.header {
		if f, ok := namedField(purchaseFields, p.target(i)); ok && f.name == "purchase_code" {
			return true
		}
	}
	return false
}

// columns returns the field of each column, nil for one that is ignored, and a function
// that gives a line the values of all rows.
func columns[L any](p *csvPlan, fields []field[L], required ...string) (list []*field[L], constants func(*L) error, err error) {
	at := map[string]string{} // field → its column
	var unknown []string
	for i, name := range p.header {
		target := p.target(i)
		f, ok := namedField(fields, target)
		switch {
		case target == "":
		case !ok && p.ignoreOthers:
		case !ok:
			unknown = append(unknown, fmt.Sprintf("%.100q", target)) // it may be of a form
		case at[f.name] != "" && !mayRepeat(f.name):
			return nil, nil, badColumns("The columns %q and %q are both %s; ignore one of them", at[f.name], name, f.name)
		default:
			at[f.name] = name
		}
		p.fields, list = append(p.fields, f.name), append(list, nil)
		if ok {
			list[i] = &f
		}
	}
	if len(unknown) > 0 {
		return nil, nil, badColumns("No field for %s; map each column to a field, or ignore it; the %s", someNames(unknown), namesOf(fields))
	}
	p.setDefaults(at)
	p.items.foreign = p.shop != nil && !slices.ContainsFunc(p.header, func(name string) bool { return fold(name) == "itemidmetadata" })
	if constants, err = constantsOf(p, fields, at); err != nil {
		return nil, nil, err
	}
	for _, name := range required {
		if at[name] == "" {
			return nil, nil, badColumns("No column is %s; map one to it, or set it for all rows", name)
		}
	}
	return list, constants, nil
}

// setDefaults sets for all rows what the export of a shop does not have.
func (p *csvPlan) setDefaults(at map[string]string) {
	if p.shop == nil {
		return
	}
	all := maps.Clone(p.shop.set)
	for name, value := range p.set {
		all[name] = value
	}
	for name := range p.shop.set {
		if _, said := p.set[name]; !said && at[name] != "" {
			delete(all, name)
		}
	}
	p.set = all
}

// constantsOf checks the values of all rows, and notes in at that their fields are given.
func constantsOf[L any](p *csvPlan, fields []field[L], at map[string]string) (func(*L) error, error) {
	type constant struct {
		f     field[L]
		value string
	}
	var all []constant
	for _, name := range slices.Sorted(maps.Keys(p.set)) {
		f, ok := namedField(fields, name)
		var try L
		switch {
		case !ok:
			return nil, badColumns("No field %q; the %s", name, namesOf(fields))
		case at[f.name] != "":
			return nil, badColumns("%s is set for all rows, and the column %q has it, too; ignore one of them", f.name, at[f.name])
		}
		if err := f.set(&try, p.set[name], p.reading); err != nil {
			return nil, badColumns("%s: %v", f.name, err)
		}
		at[f.name] = name
		all = append(all, constant{f, p.set[name]})
	}
	return func(l *L) error {
		for _, c := range all {
			if err := c.f.set(l, c.value, p.reading); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

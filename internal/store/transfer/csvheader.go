package transfer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
)

// readHeader reads the header, and finds how an earlier import has read it.
func (imp *importer) readHeader(ctx context.Context, r *csvReader) (*csvPlan, error) {
	header, err := r.header()
	var unreadable *badLine
	if errors.As(err, &unreadable) {
		return nil, fault.Invalid("csv_header", "The names of the columns can't be read: "+unreadable.Error())
	}
	if err != nil {
		return nil, err
	}
	if err := checkHeader(header); err != nil {
		return nil, err
	}
	o := imp.options.CSV
	if err := errors.Join(checkEncoding(o.Encoding), checkDates(o.Dates), checkStates(o.States)); err != nil {
		return nil, err
	}
	if err := checkMap(o.Map); err != nil {
		return nil, err
	}
	p := newCSVPlan(header, o)
	if err = errors.Join(p.use(shopOf(p.header)), p.findHeader(r)); err != nil {
		return nil, err
	}
	if p.workspace, err = imp.csvWorkspace(ctx, o.Workspace); err != nil {
		return nil, err
	}
	imp.report.CSV = p.report(r)
	p.reading.report = imp.report.CSV
	if !p.mapsAll() {
		if err := imp.recallColumns(ctx, p); err != nil {
			return nil, err
		}
	}
	return p, p.checkNames()
}

func newCSVPlan(header []string, o *CSVOptions) *csvPlan {
	return &csvPlan{
		header: trimmed(header), fieldOf: folded(o.Map), set: o.Set, reading: reading{dates: o.Dates, cents: o.Cents, states: statesOf(o.States)},
		ignoreStates: o.IgnoreStates, ignoreOthers: o.IgnoreOthers, split: o.Split, items: itemNames{said: itemKeys(o.Items)},
	}
}

// report describes how the file of a reader is read, without its columns.
func (p *csvPlan) report(r *csvReader) *CSVReport {
	report := &CSVReport{Separator: separatorName(r.separator), Encoding: r.encoding, Dates: p.reading.dates, Cents: p.reading.cents}
	if p.shop != nil {
		report.Shop = p.shop.name
	}
	return report
}

// findHeader is an error when the names of the columns are not in the first line but in one of the next,
// below a title.
func (p *csvPlan) findHeader(r *csvReader) error {
	const most = 20
	if len(p.fieldOf) > 0 || p.shop != nil || p.hasNames(p.header) || len(p.header) > 2 {
		return nil
	}
	ahead := *r
	head, _ := r.Peek(maxLine)
	ahead.textFile, ahead.text = newTextFile(bytes.NewReader(head), ""), nil
	for n := 0; n < most && ahead.next(); n++ {
		for i := range len(separators) {
			ahead.separator = separators[i]
			ahead.newParser()
			if cells, err := ahead.cells(); err == nil && len(cells) > 2 && p.hasNames(cells) {
				return fault.Invalid("csv_header", fmt.Sprintf("The names of the columns are on line %d. They have to be on the first: remove the lines before them", ahead.line))
			}
		}
	}
	return nil
}

// hasNames reports whether one of the names is that of a purchase code, or of an item's id.
func (p *csvPlan) hasNames(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		f, isSale := namedField(purchaseFields, name)
		g, isItem := namedField(itemFields, name)
		return isSale && f.name == "purchase_code" || isItem && g.name == "id"
	})
}

// checkMap is an error for two names that are one for us, with different fields.
func checkMap(fields map[string]string) error {
	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		before, twice := seen[fold(name)]
		if twice && fields[before] != fields[name] {
			return badColumns("The columns %q and %q can't be told apart, and have different fields; rename one of them in the file", before, name)
		}
		seen[fold(name)] = name
	}
	return nil
}

// Limits of a header: it is kept with every import.
const (
	maxColumns    = 1000
	maxColumnName = 255 // characters
)

func checkHeader(header []string) error {
	if len(header) > maxColumns {
		return fault.Invalid("csv_header", fmt.Sprintf("The first line has %d columns. A file has %d at most: remove those that are not needed", len(header), maxColumns))
	}
	for i, name := range header {
		if utf8.RuneCountInString(name) > maxColumnName {
			return fault.Invalid("csv_header", fmt.Sprintf("The name of column %d is longer than %d characters. The first line has to be the names of the columns", i+1, maxColumnName))
		}
	}
	return nil
}

// digest names the header, without the reasons of an earlier import.
func (p *csvPlan) digest() string {
	names := make([]string, len(p.header))
	for i, name := range p.header {
		names[i] = fold(name)
	}
	if last := len(names) - 1; names[last] == reasonColumn {
		names = names[:last]
	}
	sum := sha256.Sum256([]byte(strings.Join(names, "\n")))
	return hex.EncodeToString(sum[:])
}

// rememberColumns keeps what the columns were, and what the words of states and items meant, for the next file
// with this header.
func (imp *importer) rememberColumns(ctx context.Context, tx *storedb.DB) error {
	if imp.csv == nil || len(imp.csv.fieldOf)+len(imp.csv.reading.states)+len(imp.csv.items.said) == 0 {
		return nil
	}
	mapping := maps.Clone(imp.csv.fieldOf)
	if imp.csv.reading.cents && imp.csv.shop == nil {
		mapping[centsKey] = "yes"
	}
	for word, state := range imp.csv.reading.states {
		mapping[statePrefix+word] = string(state)
	}
	for text, id := range imp.csv.items.said {
		mapping[itemPrefix+text] = strconv.FormatInt(id, 10)
	}
	return tx.SetImportMapping(ctx, imp.csv.workspace.ID, imp.csv.digest(), mapping, imp.service.timestamp())
}

// What is remembered of the words of states and of items begins with these, which no folded name of a column has.
const (
	statePrefix = "="
	itemPrefix  = "#"
	centsKey    = "$"
)

// recallColumns has the columns read as in the last import of such a header, if there was one.
func (imp *importer) recallColumns(ctx context.Context, p *csvPlan) error {
	mapping, err := imp.session.ImportMapping(ctx, p.workspace.ID, p.digest())
	if errors.Is(err, sqldb.ErrNotFound) {
		return nil
	}
	imp.report.CSV.Remembered = err == nil && p.recall(mapping)
	imp.report.CSV.Cents = p.reading.cents
	return err
}

// mapsAll reports whether the options say what every column is, as a form does: nothing is then recalled.
func (p *csvPlan) mapsAll() bool {
	return !slices.ContainsFunc(p.header, func(name string) bool { _, said := p.fieldOf[fold(name)]; return !said })
}

// recall takes what an earlier import has kept, and reports whether that is anything. What the options say
// counts more.
func (p *csvPlan) recall(mapping map[string]string) (took bool) {
	known := foldedSet(p.header)
	for name, value := range mapping {
		word, isWord := strings.CutPrefix(name, statePrefix)
		text, isItem := strings.CutPrefix(name, itemPrefix)
		switch {
		case isWord:
			took = addNew(p.reading.states, word, storedb.State(value)) || took
		case isItem:
			id, _ := strconv.ParseInt(value, 10, 64)
			took = addNew(p.items.said, text, id) || took
		case name == centsKey:
			p.reading.cents, took = true, true
		case known[name]: // the column of reasons may be missing
			took = addNew(p.fieldOf, name, value) || took
		}
	}
	return took
}

// addNew adds an entry to a map that does not have it, and reports whether it did.
func addNew[V any](to map[string]V, key string, value V) bool {
	if _, there := to[key]; there {
		return false
	}
	to[key] = value
	return true
}

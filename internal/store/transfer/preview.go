package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/spreadsheet"
	"github.com/countersign/countersign/internal/sqldb"
)

// previewRows is how many rows of a file a preview has.
const previewRows = 5

// Rows says what the rows of a file of CSV are.
type Rows string

// What rows can be.
const (
	RowsItems     Rows = "items"
	RowsPurchases Rows = "purchases"
)

// Preview is what a file looks like before it is imported.
type Preview struct {
	Upload
	// CSV is nil for a file of JSON Lines.
	CSV *CSVPreview
}

// CSVPreview describes a file of CSV, and how its columns would be read.
type CSVPreview struct {
	// CSVReport has the columns with their fields: those of the last try, or of an earlier import
	// with this header, or else those that have the name of the column.
	CSVReport
	Rows Rows
	// Fields are the names of all fields that a column can have, and Required those that
	// every row needs: from a column, or from a value for all rows.
	Fields, Required []string
	// Words are the texts of columns that can be states or items, by the column's name: those of the
	// first 10,000 rows. Columns with more than 30 are left out.
	Words map[string][]Word
	// Set has the values of fields for all rows that are usual for the shop.
	Set map[string]string
	// First are the first rows, at most 5, with a cell for each column.
	First [][]string
}

// Preview reads the beginning of an upload. rows says what its rows are to be; "" leaves that to
// the columns. encoding is as in [CSVOptions]; "" is that of the last try.
func (s *Service) Preview(ctx context.Context, a people.Actor, id int64, rows Rows, encoding string) (Preview, error) {
	row, u, err := s.upload(ctx, a, id)
	if err != nil {
		return Preview{}, err
	}
	u.CSV.Encoding = cmp.Or(encoding, u.CSV.Encoding)
	p := Preview{Upload: u}
	if p.CSV, err = s.preview(ctx, a, s.uploadPath(row.Name), u.NewImport); err != nil || p.CSV == nil {
		return p, err
	}
	if rows != "" && rows != p.CSV.Rows {
		p.CSV.Rows = rows
		for i, c := range p.CSV.Columns {
			p.CSV.Columns[i].Field = fieldNamed(rows, c.Field, c.Name)
		}
	}
	p.CSV.Fields, p.CSV.Required = fieldsOf(p.CSV.Rows)
	return p, nil
}

// preview reads the beginning of a file; it is nil for one that is not CSV.
func (s *Service) preview(ctx context.Context, a people.Actor, path string, n NewImport) (p *CSVPreview, err error) {
	n.CSV.Workspace = n.Workspace
	err = s.readUpload(a, path, n, func(imp *importer, rows *csvReader) error {
		p, err = imp.preview(ctx, rows)
		return err
	})
	return p, err
}

// readUpload calls do with the rows of a file, if it is CSV.
func (s *Service) readUpload(a people.Actor, path string, n NewImport, do func(*importer, *csvReader) error) error {
	file, isCSV, err := openUpload(path, n.File)
	if err != nil {
		return err
	}
	defer file.Close()
	if !isCSV {
		return nil
	}
	if err := checkNotUTF8(file, n.CSV.Encoding); err != nil {
		return err
	}
	imp := &importer{service: s, actor: a, options: ImportOptions{CSV: &n.CSV}, session: s.db}
	return do(imp, newCSVReader(file, n.CSV.Encoding))
}

func (imp *importer) preview(ctx context.Context, rows *csvReader) (*CSVPreview, error) {
	plan, err := imp.readHeader(ctx, rows)
	if err != nil {
		return nil, err
	}
	p := &CSVPreview{CSVReport: *imp.report.CSV, Rows: RowsItems}
	if plan.hasPurchases() {
		p.Rows = RowsPurchases
	}
	for i, name := range plan.header {
		p.Columns = append(p.Columns, CSVColumn{Name: name, Field: fieldNamed(p.Rows, plan.target(i))})
	}
	if plan.shop != nil {
		p.Set = plan.shop.set
	}
	if plan.items.byName, err = itemsByName(ctx, imp.session, plan.workspace.ID); err != nil {
		return nil, err
	}
	p.First, p.Words, err = plan.look(ctx, rows)
	return p, err
}

// fieldNamed is the name of the field that the first of some names means, "" for none.
func fieldNamed(rows Rows, names ...string) string {
	for _, name := range names {
		if rows == RowsPurchases {
			if f, ok := namedField(purchaseFields, name); ok {
				return f.name
			}
		} else if f, ok := namedField(itemFields, name); ok {
			return f.name
		}
	}
	return ""
}

// fieldsOf are the fields that rows can have, and those that they must have.
func fieldsOf(rows Rows) (all, required []string) {
	if rows == RowsPurchases {
		return namesIn(purchaseFields), purchaseRequired
	}
	return namesIn(itemFields), itemRequired
}

// checkColumns is an error (csv_columns) when the columns of a file can't be read as an import is
// to read them.
func (s *Service) checkColumns(ctx context.Context, a people.Actor, path string, n NewImport) error {
	return s.readUpload(a, path, n, func(imp *importer, rows *csvReader) error {
		_, err := imp.planCSV(ctx, rows)
		return err
	})
}

// RejectedRow is a row that was rejected, as text.
type RejectedRow struct{ Text, Reason string }

// Rejected returns the first rejected rows of an import, most at most.
func (s *Service) Rejected(ctx context.Context, a people.Actor, id int64, most int) ([]RejectedRow, error) {
	report, file, err := s.Result(ctx, a, id)
	if err != nil || file == nil {
		return nil, err
	}
	defer file.Close()
	rows := newCSVReader(file, "")
	if _, err := rows.header(); err != nil {
		return nil, fmt.Errorf("store: rejected rows: %w", err)
	}
	var all []RejectedRow
	for len(all) < most && rows.next() {
		cells, err := rows.cells()
		if err != nil {
			return nil, fmt.Errorf("store: rejected rows: %w", err)
		}
		cells = sqldb.Convert(cells, spreadsheet.Uncell)
		if report.CSV == nil { // line, reason, text
			all = append(all, RejectedRow{cells[2], cells[1]})
			continue
		}
		last := len(cells) - 1
		all = append(all, RejectedRow{string(rowOf(rows.separator, slices.Clone(cells[:last]))), cells[last]})
	}
	if rows.err != nil && !errors.Is(rows.err, io.EOF) {
		return nil, rows.err
	}
	return all, nil
}

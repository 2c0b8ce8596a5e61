package transfer

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/countersign/countersign/internal/sqldb"
)

// readAhead reads the rows before they are staged where one can't be read without the others: dates
// that do not tell day and month apart by themselves, rows about the sale of another row, and rows of
// one order. It returns a reader that begins anew.
func (imp *importer) readAhead(ctx context.Context, rows *csvReader, file io.ReadSeeker) (*csvReader, error) {
	p := imp.csv
	byRows := p.reading.dates == DatesByRows && len(p.dateColumns()) > 0
	refunds := slices.Contains(p.fields, refundOfField)
	if byRows {
		if err := imp.findDates(ctx, file); err != nil {
			return nil, err
		}
	}
	if refunds {
		if err := imp.findRefunds(ctx, file); err != nil {
			return nil, err
		}
	}
	ofOrders := p.order > 0 && p.sale != nil
	if ofOrders {
		if err := imp.findOrders(ctx, file); err != nil {
			return nil, err
		}
	}
	if !byRows && !refunds && !ofOrders {
		return rows, nil
	}
	return imp.reread(file)
}

// reread returns a reader of the rows from the first on.
func (imp *importer) reread(file io.ReadSeeker) (*csvReader, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("store: import: the file can't be read a second time: %w", err)
	}
	rows := newCSVReader(file, imp.options.CSV.Encoding)
	_, err := rows.header()
	return rows, err
}

// eachRow reads the rows whose cells can be told apart, until do returns false. unreadable says why a row is rejected.
func (imp *importer) eachRow(ctx context.Context, file io.ReadSeeker, do func(line int, cells []string, unreadable error) bool) error {
	rows, err := imp.reread(file)
	if err != nil {
		return err
	}
	for n := 0; rows.next(); n++ {
		if n%1000 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if cells, err := imp.csvCells(rows); cells != nil && !do(rows.line, cells, err) {
			break
		}
	}
	if rows.err != nil {
		return fmt.Errorf("store: import: line %d: %w", rows.line, rows.err)
	}
	return nil
}

// findDates finds for each column of dates whether day or month is first.
func (imp *importer) findDates(ctx context.Context, file io.ReadSeeker) error {
	const enough = 1000
	p := imp.csv
	dates, seen, rows := p.dateColumns(), make([]seenDates, len(p.header)), 0
	err := imp.eachRow(ctx, file, func(_ int, cells []string, unreadable error) bool {
		if unreadable != nil {
			return true
		}
		there, numeric := false, false
		for _, column := range dates {
			seen[column].note(cells[column])
			there, numeric = there || cells[column] != "", numeric || seen[column].numeric
		}
		if there {
			rows++
		}
		return numeric || rows < enough // else dates are of another form
	})
	p.reading.byColumn = sqldb.Convert(seen, seenDates.order)
	imp.reportDates()
	return err
}

// reportDates reports the orders of day and month that the rows have: those of columns, and that of the file if
// it has one only.
func (imp *importer) reportDates() {
	r := imp.report.CSV
	all := map[DateOrder]bool{}
	for i, order := range imp.csv.reading.byColumn {
		r.Columns[i].Dates = order
		if order != DatesByRows {
			r.Dates, all[order] = order, true
		}
	}
	if len(all) > 1 {
		r.Dates = DatesByRows
	}
}

// dateColumns are the places of the columns that are dates.
func (p *csvPlan) dateColumns() (all []int) {
	for i, field := range p.fields {
		if slices.Contains([]string{"date", "supported_until", "state_at", "published_at"}, field) {
			all = append(all, i)
		}
	}
	return all
}

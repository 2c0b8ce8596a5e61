package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/spreadsheet"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
)

// stageCSV stages the rows of a file.
func (imp *importer) stageCSV(ctx context.Context, file io.ReadSeeker) error {
	if err := checkNotUTF8(file, imp.options.CSV.Encoding); err != nil {
		return err
	}
	rows := newCSVReader(file, imp.options.CSV.Encoding)
	var err error
	if imp.csv, err = imp.planCSV(ctx, rows); err != nil {
		return err
	}
	if rows, err = imp.readAhead(ctx, rows, file); err != nil {
		return err
	}
	for rows.next() {
		if imp.report.Lines%1000 == 0 {
			if err := imp.progress(ctx, rows.bytes.n); err != nil {
				return err
			}
		}
		if err := imp.stageRow(ctx, rows); err != nil {
			return err
		}
	}
	imp.skipped = slices.Clone(imp.report.Skipped)
	if rows.err != nil {
		return fmt.Errorf("store: import: line %d: %w", rows.line, rows.err)
	}
	if err := imp.progress(ctx, rows.bytes.n); err != nil {
		return err
	}
	return imp.stage.Flush(ctx, imp.session)
}

// stageRow stages the current row, or notes why not.
func (imp *importer) stageRow(ctx context.Context, rows *csvReader) error {
	cells, err := imp.csvCells(rows)
	if err == nil && isEmpty(cells) {
		return nil
	}
	imp.report.Lines++
	if err == nil && imp.csv.isTotal(cells) {
		err = &skippedRow{cells[0], true}
	}
	if err == nil {
		err = imp.csv.stage(ctx, rows.line, cells)
	}
	if shadow := imp.shadow(ctx, rows.line, cells, err); shadow != nil {
		return shadow
	}
	if skipped, ok := errors.AsType[*skippedRow](err); ok {
		imp.report.skip(skipped.word, rows.line)
		return nil
	}
	if errors.Is(err, errWaits) {
		return nil
	}
	return imp.rejectRow(rows, err)
}

// csvCells returns the cells of a row, one for each column: also with the error of a row that is rejected, where
// they can be told apart.
func (imp *importer) csvCells(rows *csvReader) ([]string, error) {
	cells, err := rows.cells()
	if err != nil {
		var ok bool
		if cells, ok = rows.decoded(); !ok {
			return nil, err
		}
	}
	for i, cell := range cells {
		cells[i] = plainCell(cell)
	}
	columns := len(imp.csv.header)
	if err == nil && len(cells) > columns && !isEmpty(cells[columns:]) {
		err = badf("the row has %d cells, the first line has %d", len(cells), columns)
	}
	for len(cells) < columns { // spreadsheets leave empty cells at the end out
		cells = append(cells, "")
	}
	cells = cells[:columns]
	if p := imp.csv; p.order > 0 && err == nil {
		cells = slices.Clone(cells)
		p.continueOrder(cells, rows.before)
		rows.before, rows.beforeLine = cells, rows.line
	}
	return cells, err
}

func isEmpty(cells []string) bool {
	return !slices.ContainsFunc(cells, func(cell string) bool { return cell != "" })
}

// rejectRow is reject for a row. Its text is the row with the reason behind it, as a
// spreadsheet may open it; the first one follows the header.
func (imp *importer) rejectRow(rows *csvReader, err error) error {
	var bad *badLine
	if !errors.As(err, &bad) {
		return err
	}
	text := imp.rejectedRow(rows, bad.Error())
	if text != nil && !imp.headerWritten {
		imp.headerWritten = true
		mark := ""
		if rows.encoding != encodingUTF8 { // also for the reader of what was corrected, whatever its options say
			mark = byteOrderMark
		}
		head := rowOf(rows.separator, append(spreadsheet.Row(imp.csv.originalHeader()), reasonColumn))
		text = slices.Concat([]byte(mark), head, []byte("\n"), text)
	}
	return imp.reject(rows.line, err, text)
}

// rejectedRow is nil for a row that is too long. One whose quotes are wrong is copied as one cell.
func (imp *importer) rejectedRow(rows *csvReader, reason string) []byte {
	if rows.cut || len(rows.text) > maxLine {
		return nil
	}
	cells, ok := rows.decoded()
	if !ok {
		cells = []string{decodedText(rows.text)}
	}
	cells = slices.Clone(cells)
	if imp.csv.order > 0 && rows.beforeLine == rows.line {
		cells = imp.csv.aloneInOrder(rows.before)
	}
	columns := len(imp.csv.originalHeader())
	for len(cells) < columns {
		cells = append(cells, "")
	}
	if len(cells) > columns && columns < len(imp.csv.header) {
		cells = cells[:columns]
	}
	for i, cell := range cells {
		cells[i] = spreadsheet.Uncell(cell)
	}
	return rowOf(rows.separator, append(spreadsheet.Row(cells), spreadsheet.Cell(reason)))
}

// originalHeader is the header without the reasons of an earlier import.
func (p *csvPlan) originalHeader() []string {
	if last := len(p.header) - 1; fold(p.header[last]) == reasonColumn {
		return p.header[:last]
	}
	return p.header
}

// reportLateRows is reportLate for CSV.
func (imp *importer) reportLateRows(file io.Reader, late []int) error {
	rows := newCSVReader(file, imp.options.CSV.Encoding)
	if _, err := rows.header(); err != nil {
		return err
	}
	for len(late) > 0 && rows.next() {
		_, _ = imp.csvCells(rows) // later rows of an order need the first
		if rows.line == late[0] {
			_ = imp.rejectRow(rows, badf("%s", imp.bad[late[0]]))
			late = late[1:]
		}
	}
	return rows.err
}

// planItems makes rows items. What no column has of an item that is there stays.
func (imp *importer) planItems(p *csvPlan) error {
	list, constants, err := columns(p, itemFields, itemRequired...)
	if err != nil {
		return err
	}
	for _, name := range p.header {
		if f, ok := namedField(purchaseFields, name); ok && slices.Contains([]string{"buyer_name", "buyer_email", "supported_until", "license_type"}, f.name) {
			return badColumns("The rows have %q like sales, but no column is purchase_code; map one to it", name)
		}
	}
	id := slices.Index(p.fields, "id")
	if id < 0 {
		return badColumns("No column is id; every item has its own")
	}
	p.stage = func(ctx context.Context, line int, cells []string) error {
		l, was, err := imp.itemNow(ctx, p.workspace, list[id], cells[id])
		if err == nil {
			err = fill(&l, list, constants, cells, p.reading)
		}
		if err == nil {
			err = checkCurrency(l.mark, l.Currency)
		}
		if err != nil {
			return err
		}
		return imp.stageItem(ctx, line, l, &was)
	}
	return nil
}

// itemNow is the line and the body of an item as the store has it, or the line of a new one.
func (imp *importer) itemNow(ctx context.Context, w storedb.Workspace, id *field[itemLine], cell string) (l itemLine, body string, err error) {
	l = itemLine{Type: "item", Workspace: w.Account.Username}
	if err := id.set(&l, cell, reading{}); err != nil {
		return l, "", badf("%s: %v", id.name, err)
	}
	now, err := imp.session.Item(ctx, l.ID)
	if errors.Is(err, sqldb.ErrNotFound) || err == nil && now.WorkspaceID != w.ID {
		return l, "", nil
	}
	if err != nil {
		return l, "", err
	}
	l = lineOfItem(now, w.Account.Username)
	l.Licensing = nil // stays
	return l, string(now.Body), nil
}

// fill sets the fields of a line. Its error has all cells that can't be read.
func fill[L any](l *L, list []*field[L], constants func(*L) error, cells []string, in reading) error {
	if err := constants(l); err != nil {
		return err
	}
	var faults []string
	for _, first := range []bool{true, false} { // amounts are read by their currency
		for i, f := range list {
			if f == nil || first != (f.name == "currency") {
				continue
			}
			text, err := textOf(cells[i])
			if err == nil {
				err = f.set(l, text, in.ofColumn(i))
			}
			if err != nil {
				faults = append(faults, f.name+": "+err.Error())
			}
		}
	}
	if len(faults) > 0 {
		return reason(strings.Join(faults, "; "))
	}
	return nil
}

package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

// maxRefunds is how many sales a file may take back by rows of their own.
const maxRefunds = 100_000

// refund is what rows of a file say about the sale of another row: that it was paid back, in part or whole.
type refund struct {
	line     int // of the first of them
	sum      countersign.Money
	before   soldRow // by rows of earlier files
	currency string
	whole    bool // a row names no amount
	charged  bool // back, by the buyer's bank
	fault    string
	inFile   bool // the sale is
	staged   bool
	known    bool // what is before
	ends     bool // the sale, which is good for all that its own row says
	rows     []refundRow
}

// refundRow is a row about the sale of another row.
type refundRow struct {
	line int
	code string // its own, or the id of the refund
	word string
	// amount is what it pays back, 0 for all of the sale.
	amount   countersign.Money
	part     storedb.RefundedPart // without an ID for one that repeats another
	repeated bool                 // without a code, and like a row of an earlier file
}

// findRefunds reads which sales are taken back by other rows, and which of them are in the file.
func (imp *importer) findRefunds(ctx context.Context, file io.ReadSeeker) error {
	p, most := imp.csv, cmp.Or(imp.options.mostAhead, maxRefunds)
	p.refunds = map[string]*refund{}
	err := imp.eachRow(ctx, file, func(line int, cells []string, unreadable error) bool {
		l, err := p.sale(cells)
		err = errors.Join(unreadable, err)
		if l.sold.refundOf != "" && (err != nil || l.sold.isRefund(l.Price.Money, p.shop != nil)) {
			p.addRefund(line, l, err)
		}
		return len(p.refunds) <= most
	})
	if len(p.refunds) > most {
		return fault.Invalid("csv_refunds", fmt.Sprintf("More than %d sales are taken back by rows of their own; split the file", most))
	}
	if err != nil || len(p.refunds) == 0 {
		return err
	}
	return imp.eachRow(ctx, file, func(_ int, cells []string, _ error) bool {
		if l, err := p.sale(cells); err != nil || !l.sold.isRefund(l.Price.Money, p.shop != nil) {
			for _, code := range codesIn(l.PurchaseCode) {
				if r := p.refunds[rules.FoldCode(code)]; r != nil {
					r.inFile = true
				}
			}
		}
		return true
	})
}

// addRefund notes a row that takes a sale back. One that can't be read, unreadable says why, leaves open what is
// left of its sale.
func (p *csvPlan) addRefund(line int, l purchaseLine, unreadable error) {
	code := rules.FoldCode(l.sold.refundOf)
	r := p.refunds[code]
	if r == nil {
		r = &refund{line: line, currency: l.Currency}
		p.refunds[code] = r
	}
	const most = 1000
	if len(r.rows) == most {
		r.fault = fmt.Sprintf("more than %d lines take this sale back, the first is line %d", most, r.line)
		return
	}
	amount := l.Price.Money
	if amount == 0 {
		amount = l.sold.refund
	}
	amount = max(amount, -amount)
	row := refundRow{line: line, code: cmp.Or(l.PurchaseCode, l.sold.refundID), word: cmp.Or(l.sold.word, "refund")}
	defer func() { r.rows = append(r.rows, row) }()
	row.amount = amount
	again := slices.IndexFunc(r.rows, func(other refundRow) bool { return other.code != "" && other.code == row.code })
	if again >= 0 && unreadable == nil {
		if first := r.rows[again]; first.amount != amount {
			r.fault = fmt.Sprintf("the lines %d and %d take this sale back with one code and different amounts", first.line, line)
		}
		return // the same row twice
	}
	charged := l.sold.state == storedb.StateChargedBack || l.sold.disputed
	row.part = storedb.RefundedPart{ID: r.partID(row, l.Date), Amount: amount, ChargedBack: charged}
	switch {
	case unreadable != nil:
		r.fault = fmt.Sprintf("line %d takes this sale back and can't be read", line)
	case l.Currency != r.currency:
		r.fault = fmt.Sprintf("the lines %d and %d take this sale back in two currencies", r.line, line)
	}
	r.whole = r.whole || amount == 0
	r.charged = r.charged || charged
	r.sum += amount
}

// partID tells a part that was paid back apart: by the code of its row, else by its time, its amount, and how many
// of the same are before it.
func (r *refund) partID(row refundRow, at timestamp) string {
	if row.code != "" {
		return "code " + rules.FoldCode(row.code)
	}
	for n := 1; ; n++ {
		id := fmt.Sprintf("%s %s %d", at, row.amount, n)
		if !slices.ContainsFunc(r.rows, func(other refundRow) bool { return other.part.ID == id }) {
			return id
		}
	}
}

// readBefore reads what rows of earlier files have paid back of a sale, besides those that this file has, too.
func (imp *importer) readBefore(ctx context.Context, db *storedb.DB, code string, r *refund) error {
	if r.known {
		return nil
	}
	parts, err := db.RefundedParts(ctx, rules.CodeDigest(imp.service.gate.Box(), code))
	var others []storedb.RefundedPart
	for _, part := range parts {
		i := slices.IndexFunc(r.rows, func(row refundRow) bool { return row.part.ID == part.ID })
		if i < 0 {
			others = append(others, part)
			continue
		}
		row := &r.rows[i]
		row.repeated = row.code == ""
		if row.amount != part.Amount && row.amount != 0 && part.Amount != 0 {
			r.fault = fmt.Sprintf("line %d takes this sale back with a code under which an earlier file has another amount (%s)", row.line, part.Amount.In(r.currency))
		}
	}
	r.before, r.known = saidBy(others), err == nil
	return err
}

// checkBefore is an error when another import has noted refunds since the file was read: with them, a sale that is staged as
// good may be paid back.
func (imp *importer) checkBefore(ctx context.Context, tx *storedb.DB) error {
	if imp.csv == nil {
		return nil
	}
	for code, r := range imp.csv.refunds {
		if !r.known {
			continue
		}
		now := refund{currency: r.currency, rows: slices.Clone(r.rows)}
		if err := imp.readBefore(ctx, tx, code, &now); err != nil {
			return err
		}
		if now.before != r.before || now.fault != "" && r.fault == "" {
			return errRefundsChanged
		}
	}
	return nil
}

var errRefundsChanged = fault.Conflict("refunds_changed", "Nothing was written. Another import has taken back sales of this file while it was read: import the file again")

// saidBy is what parts say together about their sale.
func saidBy(parts []storedb.RefundedPart) (said soldRow) {
	for _, p := range parts {
		said.refund += p.Amount
		said.refunded = said.refunded || p.Amount == 0
		said.disputed = said.disputed || p.ChargedBack
	}
	return said
}

// keepParts notes the parts that rows of the file have paid back, and reports whether any is new.
func (imp *importer) keepParts(ctx context.Context, tx *storedb.DB, id int64) (added bool, err error) {
	if imp.csv == nil {
		return false, nil
	}
	for _, code := range slices.Sorted(maps.Keys(imp.csv.refunds)) { // two imports wait for each other in one order
		r, digest := imp.csv.refunds[code], rules.CodeDigest(imp.service.gate.Box(), code)
		for _, row := range r.rows {
			if _, bad := imp.bad[row.line]; bad || row.part.ID == "" || r.fault != "" {
				continue
			}
			fresh, err := tx.AddRefundedPart(ctx, id, digest, row.part)
			if err != nil {
				return false, err
			}
			added = added || fresh
		}
		if !r.ends {
			continue
		}
		if err := tx.NoteEnded(ctx, id, digest); err != nil {
			return false, err
		}
	}
	return added, nil
}

// of is what the rows say about a sale of a currency.
func (r *refund) of(currency string) (soldRow, error) {
	switch {
	case r.fault != "":
		return soldRow{}, badf("%s", r.fault)
	case r.currency != currency && !r.whole && !r.charged:
		return soldRow{}, badf("line %d takes this sale back in %s, but it was paid in %s", r.line, r.currency, currency)
	}
	b := r.before
	return soldRow{refund: r.sum + b.refund, refunded: r.whole || b.refunded, disputed: r.charged || b.disputed}, nil
}

// takeBack adds to the sale of one code what other rows say about it.
func (imp *importer) takeBack(ctx context.Context, l *purchaseLine) error {
	r := imp.csv.refunds[rules.FoldCode(l.PurchaseCode)]
	if r == nil {
		return nil
	}
	if err := imp.readBefore(ctx, imp.session, l.PurchaseCode, r); err != nil {
		return err
	}
	said, err := r.of(l.Currency)
	l.sold.disputed = l.sold.disputed || said.disputed
	l.sold.refunded = l.sold.refunded || said.refunded
	l.sold.refund = said.refund
	return err
}

// stageRefund stages what a row says about a sale that only the store has. A row about a sale of the
// file waits until that is written or rejected.
func (imp *importer) stageRefund(ctx context.Context, line int, l purchaseLine) error {
	r := imp.csv.refunds[rules.FoldCode(l.sold.refundOf)]
	switch {
	case r.fault != "":
		return badf("%s", r.fault)
	case r.inFile:
		return errWaits
	case r.staged:
		return &skippedRow{cmp.Or(l.sold.word, "refund") + " of another row", true}
	}
	p, err := imp.stored(ctx, l.sold.refundOf)
	if errors.Is(err, sqldb.ErrNotFound) {
		return badf("neither the file nor the store has the sale %q, which this row takes back", l.sold.refundOf)
	}
	if err != nil {
		return err
	}
	if err := imp.readBefore(ctx, imp.session, p.Code, r); err != nil {
		return err
	}
	sold, err := r.of(p.Currency)
	if err != nil {
		r.fault = err.Error() // of all its rows
		return err
	}
	state := sold.settle(p.Price)
	switch {
	case p.State != storedb.StateActive:
		return &skippedRow{cmp.Or(l.sold.word, "refund") + " of a sale that is not good anyway", true}
	case state == storedb.StateActive:
		return &skippedRow{cmp.Or(l.sold.word, "refund") + " of a part", true}
	}
	r.staged, r.ends = true, true
	p.State, p.StateAt = state, l.Date
	return imp.addPurchase(ctx, line, 0, l, p)
}

// errWaits is the error of a row whose end is known when the others are written.
var errWaits = errors.New("store: import: the row waits for another")

// settleRefunds counts the rows about sales of the file as left out, or as bad if the sale was rejected: then
// they have to come again with it.
func (imp *importer) settleRefunds(ctx context.Context, tx *storedb.DB) error {
	if imp.csv == nil {
		return nil
	}
	imp.report.Skipped = slices.Clone(imp.skipped)
	for code, r := range imp.csv.refunds {
		if !r.inFile || r.fault != "" {
			continue
		}
		staged, err := tx.HasStaged(ctx, rules.CodeDigest(imp.service.gate.Box(), code))
		if err != nil {
			return err
		}
		for _, row := range r.rows {
			if staged {
				imp.report.skip(row.word+" of another row", row.line)
			} else {
				imp.bad[row.line] = "the sale that this row takes back was rejected; correct it and import both"
			}
		}
	}
	imp.report.RepeatedRefunds = imp.repeatedRefunds()
	return nil
}

// repeatedRefunds are the rows that an earlier file has, too, for all that they say.
func (imp *importer) repeatedRefunds() (found Found) {
	var lines []int
	for _, r := range imp.csv.refunds {
		for _, row := range r.rows {
			if _, bad := imp.bad[row.line]; row.repeated && !bad && r.fault == "" {
				lines = append(lines, row.line)
			}
		}
	}
	slices.Sort(lines)
	for _, line := range lines {
		found.note(line)
	}
	return found
}

// checkRefund is an error for a row that takes money back and does not say of which sale.
func checkRefund(l purchaseLine) error {
	if l.Price.Money < 0 {
		return badf("the row takes %s back and does not say of which sale; mark that purchase yourself", (-l.Price.Money).In(l.Currency))
	}
	if l.sold.refundID != "" && !l.sold.isTakenBack() {
		return badf("the row has the id of a refund and does not say what was paid back")
	}
	if l.sold.refund != 0 && !l.sold.priced {
		return badf("a part may have been paid back: the row has a refunded amount and no price")
	}
	return nil
}

package main

import (
	"fmt"
	"strings"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/store/transfer"
)

type importView struct {
	transfer.ImportReport
	DryRun       bool    `json:"dry_run"`
	RejectedFile *string `json:"rejected_file"`
}

func (a *app) printImport(report transfer.ImportReport, bad *rejects, dryRun bool) error {
	if a.JSON {
		out := importView{ImportReport: report, DryRun: dryRun}
		if bad.file != nil && bad.failed == nil {
			out.RejectedFile = &bad.path
		}
		return a.PrintJSON(out)
	}
	if report.CSV != nil {
		a.sayCSV(report)
	}
	a.warnWeak(report.WeakCodes, "purchase code", "purchase codes", transfer.SafeCodeBits)
	a.warnWeak(report.WeakKeys, "imported key", "imported keys", transfer.SafeKeyBits)
	if n := report.NoPicture; n.Count > 0 {
		a.Say("warning: %s a thumbnail or a preview image; clients get a default picture (%s)", cli.Count(n.Count, "item lacks", "items lack"), transfer.NamedLines(n.Count, n.Lines))
	}
	if report.CSV != nil {
		a.sayUnknown(report.CSV)
	}
	if !report.Written && !dryRun {
		return nil
	}
	if report.CSV != nil {
		a.sayRows(report)
	} else {
		a.sayLines(report)
	}
	switch {
	case dryRun && report.Bad == 0:
		a.Say("Nothing was written (--dry-run).")
	case report.ID > 0:
		a.Say("For 24 hours, undo it with: countersign store imports undo %d", report.ID)
	}
	return nil
}

// dateOrders are the orders in which dates like 04/05/2024 are read.
var dateOrders = map[transfer.DateOrder]string{transfer.DatesDayFirst: "the day first", transfer.DatesMonthFirst: "the month first"}

// maxToldColumns is how many ignored columns are named.
const maxToldColumns = 8

// sayCSV says how a file of CSV was read.
func (a *app) sayCSV(report transfer.ImportReport) {
	r := report.CSV
	dates := ""
	if r.Dates != "" {
		dates = ", dates with " + dateOrders[r.Dates]
	}
	a.Say("%s, separator %s, %s%s", cli.Count(report.Lines, "row", "rows"), r.Separator, r.Encoding, dates)
	if r.Shop != "" {
		a.Say("an export of %s", r.Shop)
	}
	from := "columns"
	if r.Remembered {
		from = "columns as in the last import of such a file (--map changes them)"
	}
	a.Say("%s: %s", from, strings.Join(columnFields(r), ", "))
}

// columnFields says what each column was read as.
func columnFields(r *transfer.CSVReport) (columns []string) {
	var ignored []string
	for _, c := range r.Columns {
		field := c.Field
		if r.Dates == "" && c.Dates != "" {
			field += " with " + dateOrders[c.Dates]
		}
		if field == "" {
			ignored = append(ignored, cli.Safe(c.Name))
		} else {
			columns = append(columns, cli.Safe(c.Name)+" = "+field)
		}
	}
	switch n := len(ignored); {
	case n > maxToldColumns:
		columns = append(columns, fmt.Sprintf("%d others are ignored", n))
	case n > 0:
		columns = append(columns, "ignored: "+strings.Join(ignored, ", "))
	}
	return columns
}

// sayRows says what an import did with rows of CSV.
func (a *app) sayRows(report transfer.ImportReport) {
	m := report.Purchases
	if report.Items != (transfer.Moved{}) {
		m = report.Items
	}
	a.Say("%s · %s rejected%s", counts(m, " · "), cli.Thousands(int64(report.Bad)), skippedRows(report.Skipped))
	if n := report.NoPrice; n.Count > 0 {
		a.Say("warning: %s without a price: the orders have several rows and one total (%s)", cli.Count(n.Count, "row was read", "rows were read"), transfer.NamedLines(n.Count, n.Lines))
	}
	if n := report.Kept; n.Count > 0 {
		a.Say("warning: %s refunded, charged back or revoked, although the file has them as sold (%s); restore them with: countersign store purchase restore", cli.Count(n.Count, "code stays", "codes stay"), transfer.NamedLines(n.Count, n.Lines))
	}
	if n := report.RepeatedRefunds; n.Count > 0 {
		a.Say("warning: %s of an earlier import, because no refund_id tells them apart (%s)", cli.Count(n.Count, "row was taken for a refund", "rows were taken for refunds"), transfer.NamedLines(n.Count, n.Lines))
	}
	if report.Split > 0 {
		a.Say("%s by rows with several codes", cli.Count(report.Split, "more purchase", "more purchases"))
	}
}

// shellQuoted is a text as a shell reads it.
func shellQuoted(text string) string {
	return "'" + strings.ReplaceAll(cli.Safe(text), "'", `'\''`) + "'"
}

// sayUnknown asks what words of CSV mean.
func (a *app) sayUnknown(r *transfer.CSVReport) {
	var flags []string
	for _, word := range r.UnknownStates {
		flags = append(flags, "--state "+shellQuoted(word+"=…"))
	}
	for _, name := range r.UnknownItems {
		flags = append(flags, "--item "+shellQuoted(name+"=…"))
	}
	if len(flags) > 0 {
		a.Say("say what these mean, once: %s", strings.Join(flags, " "))
	}
}

// skippedRows says how many rows were left out, and because of which words; it is "" for none.
func skippedRows(list []transfer.Skipped) string {
	all, words := 0, make([]string, len(list))
	for i, s := range list {
		all += s.Count
		words[i] = cli.Thousands(int64(s.Count)) + " " + cli.Safe(s.Word)
	}
	if all == 0 {
		return ""
	}
	return fmt.Sprintf(" · %s skipped (%s)", cli.Thousands(int64(all)), strings.Join(words, ", "))
}

// sayLines says what an import did with lines of each type.
func (a *app) sayLines(report transfer.ImportReport) {
	for _, part := range []struct {
		name  string
		moved transfer.Moved
		rare  bool // not worth a line when it is zero
	}{
		{"workspaces", report.Workspaces, false}, {"keys", report.Keys, false}, {"items", report.Items, false},
		{"purchases", report.Purchases, false}, {"license keys", report.LicenseKeys, true}, {"licenses", report.Licenses, true},
	} {
		if part.rare && part.moved == (transfer.Moved{}) {
			continue
		}
		a.Say("%s: %s", part.name, counts(part.moved, ", "))
	}
}

// counts says what became of lines.
func counts(m transfer.Moved, between string) string {
	return strings.Join([]string{cli.Thousands(m.New) + " new", cli.Thousands(m.Changed) + " changed", cli.Thousands(m.Same) + " unchanged", cli.Thousands(m.Repeated) + " repeated"}, between)
}

// warnWeak warns of texts that are easy to guess, without showing any.
func (a *app) warnWeak(w transfer.Weak, one, many string, safe int) {
	if w.Count == 0 {
		return
	}
	a.Say("warning: %s can be guessed: fewer than %d bits by length and characters, the weakest %d (%s)", cli.Count(w.Count, one, many), safe, w.LeastBits, transfer.NamedLines(w.Count, w.Lines))
}

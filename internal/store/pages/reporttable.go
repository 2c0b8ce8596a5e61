package pages

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/frame"
)

// maxReportRows is how many rows the page of a report shows. Its file has all.
const maxReportRows = 400

// reportTable is the numbers of a report.
type reportTable struct {
	columns []string // of the numbers
	rows    []reportRow
	whole   bool // it is a file, not a page
}

// reportRow is the numbers of a day, an item, a key or an error code.
type reportRow struct {
	at      time.Time // by day
	id      int64     // by item and by key; 0 for none
	name    string    // by item, by key and by error code
	numbers []int64
}

// number is a number of the table as people read it, and in a file.
func (rep *report) number(n int64, file bool) string {
	switch {
	case rep.metric == metricRevenue:
		return countersign.Money(n).String()
	case file:
		return strconv.FormatInt(n, 10)
	}
	return frame.Thousands(n)
}

// lines is the file, with a line of names above it.
func (rep *report) lines() [][]string {
	heads := map[split][]string{byDay: {"day"}, byItem: {"item_id", "item"}, byKey: {"key_id", "key"}, byResult: {"error_code"}}[rep.split]
	heads = append(heads, rep.columns...)
	if rep.split == byDay {
		heads = append(heads, "complete")
	}
	all := [][]string{heads}
	for _, row := range rep.rows {
		var line []string
		switch rep.split {
		case byDay:
			line = []string{row.at.Format(time.DateOnly)}
		case byResult:
			line = []string{row.name}
		default:
			line = []string{strconv.FormatInt(row.id, 10), row.name}
		}
		for _, n := range row.numbers {
			line = append(line, rep.number(n, true))
		}
		if rep.split == byDay {
			line = append(line, map[bool]string{true: "yes", false: "no"}[row.at.Before(rep.today)])
		}
		all = append(all, line)
	}
	return all
}

// chartLines are the lines of the chart: of the first currencies where there are more than fit.
func (rep *report) chartLines() (lines []frame.ChartLine) {
	kinds := []frame.Kind{"", frame.Warning, frame.Note, frame.Good}
	switch rep.metric {
	case metricValid:
		kinds = []frame.Kind{frame.Good}
	case metricFailed:
		kinds = []frame.Kind{frame.Danger}
	}
	for i, c := range rep.columns[:min(len(rep.columns), len(kinds))] {
		lines = append(lines, frame.ChartLine{Label: c, Kind: kinds[i]})
	}
	return lines
}

func (rep *report) tableColumns() []frame.Column {
	all := []frame.Column{{Label: labelOf([]frame.Choice{{Value: "day", Label: "Day (UTC)"}, {Value: "item", Label: "Item"}, {Value: "key", Label: "Key"}, {Value: "result", Label: "Error code"}}, string(rep.split))}}
	for _, c := range rep.columns {
		all = append(all, frame.Column{Label: c, Number: true})
	}
	return all
}

// tableRows is the table, with a row of totals.
func (rep *report) tableRows() []frame.Row {
	if len(rep.rows) == 0 {
		return nil
	}
	total := make([]int64, len(rep.columns))
	var all []frame.Row
	for i, row := range rep.rows {
		for c, n := range row.numbers {
			total[c] += n
		}
		if i < maxReportRows {
			all = append(all, rep.tableRow(rep.rowLink(row), row.numbers))
		}
	}
	return append(all, rep.tableRow(frame.Link{Label: "Total"}, total))
}

func (rep *report) tableRow(first frame.Link, numbers []int64) frame.Row {
	row := frame.Row{frame.Words(first.Label)}
	if first.Path != "" {
		row[0] = first
	}
	for _, n := range numbers {
		row = append(row, frame.Amount(rep.number(n, false)))
	}
	return row
}

// rowLink names a row, and leads to its calls or its purchases where a list of them can be narrowed to it.
func (rep *report) rowLink(row reportRow) frame.Link {
	l, q := frame.Link{}, url.Values{}
	switch rep.split {
	case byDay:
		l.Label = dayLabel(row.at, rep.today)
		if !rep.metric.ofPurchases() {
			return l // only purchases are listed by their day
		}
	case byItem:
		l.Label = cmp.Or(row.name, "Without an item")
		if row.id == 0 {
			return l
		}
		l.Label += " (" + strconv.FormatInt(row.id, 10) + ")"
		q.Set("item", strconv.FormatInt(row.id, 10))
	case byKey:
		l.Label = cmp.Or(row.name, "Without a key")
		if row.id == 0 {
			return l
		}
		q.Set("key", strconv.FormatInt(row.id, 10))
	case byResult:
		l.Label = row.name
		q.Set("reason", row.name)
	}
	l.Path = rep.list(q, row.at)
	return l
}

// list is the list of calls or purchases behind a row, or the page of its item.
func (rep *report) list(q url.Values, day time.Time) string {
	if !rep.metric.ofCalls() && !rep.metric.ofPurchases() {
		return itemsPath(rep.ws, "/"+q.Get("item"))
	}
	if rep.metric.ofCalls() {
		q.Set("result", string(rep.metric))
		return requestsPath(rep.ws, "?"+q.Encode())
	}
	from, to := rep.from, rep.to
	if rep.split == byDay {
		from, to = day, day
	}
	q.Set("from", from.Format(time.DateOnly))
	q.Set("to", to.Format(time.DateOnly))
	return purchasesPath(rep.ws, "?"+q.Encode())
}

// nothing reports whether all numbers are 0.
func (rep *report) nothing() bool {
	return !slices.ContainsFunc(rep.rows, func(row reportRow) bool { return sum(row.numbers) != 0 })
}

// note is what a reader has to know of the numbers.
func (rep *report) note() string {
	switch rep.metric {
	case metricSales:
		return "Purchases count on the day they were sold, also when they were refunded, charged back or revoked later."
	case metricRevenue:
		return "Prices of the purchases as sold, also of those that were refunded, charged back or revoked later."
	case metricLicenses:
		return "Licenses that were issued for purchases of this workspace, also those that were moved or revoked later."
	case metricDownloads:
		return "Download links of purchases, counted on the day on which a buyer first used them."
	}
	return "Calls with a key of this workspace, counted as they are logged."
}

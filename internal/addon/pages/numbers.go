package pages

import (
	"cmp"
	"encoding/csv"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/numbers"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/spreadsheet"
)

const (
	byDay   = "day"
	byMonth = "month"
)

var (
	numberSplits = []frame.Choice{{Value: byDay, Label: "Day"}, {Value: byMonth, Label: "Month"}}
	numberRanges = []frame.Choice{{Value: "30", Label: "Last 30 days"}, {Value: "90", Label: "Last 90 days"}, {Value: "365", Label: "Last 365 days"}}
)

// numbersReport is what the page and the file of the numbers show.
type numbersReport struct {
	query       url.Values
	split, days string
	today       time.Time
	numbers.Query
	numbers.Report
	errs frame.Errors
}

// isChoice reports whether a value is one of the choices.
func isChoice(all []frame.Choice, value string) bool {
	for _, c := range all {
		if c.Value == value {
			return true
		}
	}
	return false
}

// readNumbers reads what is asked for, and the numbers.
func (p *Pages) readNumbers(r *frame.Request) (*numbersReport, error) {
	q := r.URL.Query()
	rep := &numbersReport{query: q, split: q.Get("split"), days: q.Get("days"), today: p.frame.Now().UTC().Truncate(24 * time.Hour)}
	if !isChoice(numberSplits, rep.split) {
		rep.split = byDay
	}
	if !isChoice(numberRanges, rep.days) {
		rep.days = numberRanges[0].Value
	}
	days, err := strconv.Atoi(rep.days)
	if err != nil {
		return nil, err
	}
	rep.Monthly = rep.split == byMonth
	rep.To = rep.readDay("to", rep.today)
	rep.From = rep.readDay("from", rep.To.AddDate(0, 0, 1-days))
	if rep.errs != nil {
		return rep, nil
	}
	rep.Report, err = p.addon.Numbers.Report(r.Context(), r.Actor, rep.Query)
	if fault.HasCode(err, "report_time") {
		rep.errs, _ = frame.FormErrors(err)
		rep.errs, err = rep.errs.At("from"), nil
	}
	return rep, err
}

func (rep *numbersReport) readDay(name string, without time.Time) time.Time {
	text := rep.query.Get(name)
	if text == "" {
		return without
	}
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		rep.errs = append(rep.errs, frame.FieldError{Name: name, Text: "Choose a day, like 2026-11-01."})
		return without
	}
	return at
}

func (p *Pages) showNumbers(w http.ResponseWriter, r *frame.Request) error {
	rep, err := p.readNumbers(r)
	if err != nil {
		return err
	}
	page := frame.Page{
		Title: "Numbers", Crumbs: crumbs(), Body: numbersView(rep), Scripts: []string{frame.ChartScript},
		Lead: "Purchases of the real store. Test purchases and simulated purchases are left out. Days are in UTC.",
	}
	if rep.errs != nil {
		page.Status = http.StatusUnprocessableEntity
	}
	return p.frame.Show(w, r, page)
}

func (p *Pages) exportNumbers(w http.ResponseWriter, r *frame.Request) error {
	rep, err := p.readNumbers(r)
	if err != nil {
		return err
	}
	if rep.errs != nil {
		return fault.Invalid("report_time", rep.errs[0].Text)
	}
	return p.frame.Send(w, r, "text/csv; charset=utf-8", "purchases-by-"+rep.split+".csv", func(out io.Writer) error {
		file := csv.NewWriter(out)
		heads := []string{rep.split, "active", "in_grace", "on_hold", "new", "renewed", "churned", "refunded", "one_time"}
		for _, c := range rep.Currencies {
			heads = append(heads, "revenue_"+c)
		}
		err := file.Write(spreadsheet.Row(append(heads, "complete")))
		for _, row := range rep.Rows {
			err = errors.Join(err, file.Write(spreadsheet.Row(rep.line(row))))
		}
		file.Flush()
		return errors.Join(err, file.Error())
	})
}

// line is a row of the file.
func (rep *numbersReport) line(row numbers.Row) []string {
	line := []string{row.From.Format(time.DateOnly)}
	if rep.Monthly {
		line[0] = row.From.Format("2006-01")
	}
	for _, n := range counts(row) {
		line = append(line, strconv.FormatInt(n, 10))
	}
	for _, n := range row.Revenue {
		line = append(line, countersign.Money(n).String())
	}
	return append(line, map[bool]string{true: "yes", false: "no"}[rep.complete(row)])
}

// counts are the numbers of a row that are not money, in the order of the table.
func counts(row numbers.Row) []int64 {
	return []int64{row.Active, row.InGrace, row.OnHold, row.New, row.Renewed, row.Churned, row.Refunded, row.OneTime}
}

// complete reports whether the day or the month of a row is over.
func (rep *numbersReport) complete(row numbers.Row) bool {
	end := row.From.AddDate(0, 0, 1)
	if rep.Monthly {
		end = time.Date(row.From.Year(), row.From.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	}
	return !end.After(rep.today)
}

func (rep *numbersReport) columns() []frame.Column {
	head := "Day (UTC)"
	if rep.Monthly {
		head = "Month (UTC)"
	}
	all := []frame.Column{{Label: head}}
	for _, label := range []string{"Active", "In grace", "On hold", "New", "Renewed", "Churned", "Refunded", "One-time"} {
		all = append(all, frame.Column{Label: label, Number: true})
	}
	for _, c := range rep.Currencies {
		all = append(all, frame.Column{Label: "Revenue " + c, Number: true})
	}
	return all
}

func (rep *numbersReport) rows() (rows []frame.Row) {
	for _, row := range rep.Rows {
		cells := frame.Row{frame.Words(rep.label(row))}
		for _, n := range counts(row) {
			cells = append(cells, frame.Amount(frame.Thousands(n)))
		}
		for _, n := range row.Revenue {
			cells = append(cells, frame.Amount(countersign.Money(n).String()))
		}
		rows = append(rows, cells)
	}
	return rows
}

// label names the day or the month of a row.
func (rep *numbersReport) label(row numbers.Row) string {
	label := row.From.Format(time.DateOnly)
	if rep.Monthly {
		label = row.From.Format("2006-01")
	}
	if !rep.complete(row) {
		label += " (so far)"
	}
	return label
}

// chartLines are the lines of the chart: the first columns of the table.
func chartLines() []frame.ChartLine {
	return []frame.ChartLine{{Label: "Active", Kind: frame.Good}, {Label: "In grace", Kind: frame.Warning}, {Label: "On hold", Kind: frame.Danger}, {Label: "New"}}
}

// planColumns and planRows are the table of base plans.
func planColumns() []frame.Column {
	all := []frame.Column{{Label: "Product"}, {Label: "Base plan"}}
	for _, label := range []string{"Active", "New", "Churned", "Free trials that were paid", "Recurring each month"} {
		all = append(all, frame.Column{Label: label, Number: true})
	}
	return all
}

func (rep *numbersReport) planRows() []frame.Row {
	rows := make([]frame.Row, len(rep.Plans))
	for i, p := range rep.Plans {
		churned := frame.Thousands(p.Churned)
		if p.Before > 0 && p.Churned > 0 {
			churned += " (" + percent(p.Churned, p.Before) + ")"
		}
		trials := "–"
		if p.TrialsEnded > 0 {
			trials = percent(p.TrialsOK, p.TrialsEnded) + " of " + frame.Thousands(p.TrialsEnded)
		}
		rows[i] = frame.Row{
			frame.Mono(p.Product), frame.Mono(p.ID), frame.Amount(frame.Thousands(p.Active)), frame.Amount(frame.Thousands(p.New)),
			frame.Amount(churned), frame.Amount(trials), frame.Amount(amounts(p.Recurring)),
		}
	}
	return rows
}

func percent(part, whole int64) string {
	return strconv.FormatFloat(100*float64(part)/float64(whole), 'f', 1, 64) + " %"
}

// amounts are money in several currencies.
func amounts(list []numbers.Amount) string {
	texts := make([]string, len(list))
	for i, a := range list {
		texts[i] = countersign.Money(a.Value).In(a.Currency)
	}
	return cmp.Or(strings.Join(texts, ", "), "–")
}

// file is the address of the file with the same filter.
func (rep *numbersReport) file() string {
	q := url.Values{"split": {rep.split}, "from": {rep.From.Format(time.DateOnly)}, "to": {rep.To.Format(time.DateOnly)}}
	return pathNumbers + ".csv?" + q.Encode()
}

// totals are the sums of the time, and how many purchases there are at its end.
func (rep *numbersReport) totals() frame.Figures {
	var sum numbers.Row
	revenue := make([]int64, len(rep.Currencies))
	for _, row := range rep.Rows {
		sum.New, sum.Renewed, sum.Churned, sum.Refunded = sum.New+row.New, sum.Renewed+row.Renewed, sum.Churned+row.Churned, sum.Refunded+row.Refunded
		sum.OneTime += row.OneTime
		for i, n := range row.Revenue {
			revenue[i] += n
		}
	}
	last := rep.Rows[0]
	all := frame.Figures{
		{Label: "Active", Value: frame.Thousands(last.Active), Note: "In grace " + frame.Thousands(last.InGrace) + ", on hold " + frame.Thousands(last.OnHold) + "."},
		{Label: "New", Value: frame.Thousands(sum.New), Note: "In this time."},
		{Label: "Renewed", Value: frame.Thousands(sum.Renewed), Note: "In this time."},
		{Label: "Churned", Value: frame.Thousands(sum.Churned), Note: "Refunded orders: " + frame.Thousands(sum.Refunded) + "."},
	}
	if sum.OneTime > 0 {
		all = append(all, frame.Figure{Label: "One-time", Value: frame.Thousands(sum.OneTime), Note: "Products that were bought once."})
	}
	if rep.Recurring != nil {
		all = append(all, frame.Figure{Label: "Monthly recurring revenue", Value: amounts(rep.Recurring), Note: "Of what renews, as of now."})
	}
	for i, c := range rep.Currencies {
		all = append(all, frame.Figure{Label: "Revenue", Value: countersign.Money(revenue[i]).In(c), Note: "Paid minus refunded."})
	}
	return all
}

package pages

import (
	"encoding/csv"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/spreadsheet"
	"github.com/countersign/countersign/internal/store"
)

func reportsPath(ws store.WorkspaceRole, below string) string {
	return workspacePath(ws.Account.Username, "/reports"+below)
}

// metric is what a report counts.
type metric string

const (
	metricValid     metric = "valid"
	metricFailed    metric = "failed"
	metricSales     metric = "sales"
	metricRevenue   metric = "revenue"
	metricLicenses  metric = "licenses"
	metricDownloads metric = "downloads"
)

var metricChoices = []frame.Choice{
	{Value: string(metricValid), Label: "Valid calls"}, {Value: string(metricFailed), Label: "Failed calls"},
	{Value: string(metricSales), Label: "Sales"}, {Value: string(metricRevenue), Label: "Gross revenue"},
	{Value: string(metricLicenses), Label: "Licenses"}, {Value: string(metricDownloads), Label: "Downloads"},
}

// ofCalls reports whether the log of calls has the numbers.
func (m metric) ofCalls() bool { return m == metricValid || m == metricFailed }

// ofPurchases reports whether the numbers are those of purchases by the day of their sale.
func (m metric) ofPurchases() bool { return m == metricSales || m == metricRevenue }

// split is what a report has a row for.
type split string

const (
	byDay    split = "day"
	byItem   split = "item"
	byKey    split = "key"
	byResult split = "result"
)

var splitChoices = []frame.Choice{
	{Value: string(byDay), Label: "Day"}, {Value: string(byItem), Label: "Item"}, {Value: string(byKey), Label: "Key (calls)"}, {Value: string(byResult), Label: "Error code (failed calls)"},
}

// splits are those that apply to a metric.
func (m metric) splits() []split {
	switch m {
	case metricValid:
		return []split{byDay, byItem, byKey}
	case metricFailed:
		return []split{byDay, byItem, byKey, byResult}
	}
	return []split{byDay, byItem}
}

var rangeChoices = []frame.Choice{
	{Value: "7", Label: "Last 7 days"}, {Value: "30", Label: "Last 30 days"}, {Value: "90", Label: "Last 90 days"}, {Value: "365", Label: "Last 365 days"},
}

// report is what the page and the file show.
type report struct {
	ws     store.WorkspaceRole
	query  url.Values // the filter, as the address has it
	metric metric
	split  split
	today  time.Time
	// from and to are the first and the last day, in UTC.
	from, to time.Time
	errs     frame.Errors
	reportTable
	byDay   bool // in place of a split that the metric does not have
	logged  bool // calls are logged
	missing bool // the log can't be read
}

// readReport reads what is asked for.
func (p *Pages) readReport(r *frame.Request, ws store.WorkspaceRole) *report {
	q := r.URL.Query()
	rep := &report{ws: ws, query: q, metric: metric(q.Get("metric")), split: split(q.Get("split")), today: dayOf(p.frame.Now()), logged: p.store.Requests.On()}
	if rep.metric == "" {
		rep.metric = metricValid
	}
	if rep.split == "" {
		rep.split = byDay
	}
	rep.checkSplit()
	rep.readTime()
	return rep
}

func dayOf(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

func (rep *report) wrong(name, text string) {
	rep.errs = append(rep.errs, frame.FieldError{Name: name, Text: text})
}

// checkSplit refuses what can't be counted. What can't be counted in these rows is counted by day.
func (rep *report) checkSplit() {
	if labelOf(metricChoices, string(rep.metric)) == "" {
		rep.wrong("metric", "Choose what to count from the list.")
		return
	}
	if labelOf(splitChoices, string(rep.split)) == "" {
		rep.wrong("split", "Choose what to split by from the list.")
	} else if !slices.Contains(rep.metric.splits(), rep.split) {
		rep.split, rep.byDay = byDay, true
	}
}

// fallback says why the rows are days.
func (rep *report) fallback() string {
	var names []string
	for _, s := range rep.metric.splits() {
		name, _, _ := strings.Cut(labelOf(splitChoices, string(s)), " (")
		names = append(names, strings.ToLower(name))
	}
	last := len(names) - 1
	verb := " are split by "
	if rep.metric == metricRevenue {
		verb = " is split by "
	}
	return labelOf(metricChoices, string(rep.metric)) + verb + strings.Join(names[:last], ", ") + " or " + names[last] + ". Shown by day."
}

func labelOf(choices []frame.Choice, value string) string {
	for _, c := range choices {
		if c.Value == value {
			return c.Label
		}
	}
	return ""
}

// readTime reads the days: from and to, or so many days up to today.
func (rep *report) readTime() {
	days := int(idOf(rep.query.Get("days")))
	if labelOf(rangeChoices, strconv.Itoa(days)) == "" {
		days = 30
	}
	rep.to = rep.readDay("to", rep.today)
	if rep.to.After(rep.today) {
		rep.to = rep.today
	}
	rep.from = rep.readDay("from", rep.to.AddDate(0, 0, 1-days))
	switch {
	case rep.errs.Of("from") != "" || rep.errs.Of("to") != "":
	case rep.from.After(rep.today):
		rep.wrong("from", "This day has not come yet. Type an earlier one.")
	case rep.from.After(rep.to):
		rep.wrong("from", "The first day is after the last one. Type an earlier one.")
	case rep.until().Sub(rep.from) > store.MaxSalesTime:
		rep.wrong("from", "A report is of 366 days at most. Type a later day.")
	}
}

func (rep *report) readDay(name string, without time.Time) time.Time {
	at, err := readDay(rep.query.Get(name))
	if err != nil {
		rep.wrong(name, dayHelp)
	}
	if at.IsZero() {
		return without
	}
	return at
}

// until is the time at which the last day has ended.
func (rep *report) until() time.Time { return rep.to.AddDate(0, 0, 1) }

// days is the range as the filter shows it: nothing when from or to say it.
func (rep *report) days() string {
	if days := rep.query.Get("days"); labelOf(rangeChoices, days) != "" {
		return days
	}
	return "30"
}

// file is the address of the file with the same filter.
func (rep *report) file() string {
	q := url.Values{"metric": {string(rep.metric)}, "split": {string(rep.split)}, "from": {rep.from.Format(time.DateOnly)}, "to": {rep.to.Format(time.DateOnly)}}
	return reportsPath(rep.ws, ".csv?"+q.Encode())
}

func (p *Pages) showReports(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	rep := p.readReport(r, ws)
	page := frame.Page{Title: "Reports", Crumbs: []frame.Link{workspaceCrumb(ws)}, Body: reportsView(rep), Scripts: []string{frame.ChartScript}, Lead: "Calls, sales, licenses and downloads by day, item, key or error code. Days are in UTC."}
	if rep.errs != nil {
		page.Status = http.StatusUnprocessableEntity
		return p.frame.Show(w, r, page)
	}
	err := p.fillReport(r, rep)
	if rep.missing = rep.metric.ofCalls() && p.logGone(r, err); !rep.missing && err != nil {
		return err
	}
	return p.frame.Show(w, r, page)
}

// logGone reports whether the log of calls can't be read, and says so in the server's log. A
// page stays then. A refusal is no such error, and neither is a reader who has left.
func (p *Pages) logGone(r *frame.Request, err error) bool {
	refused := fault.Of(err) != nil && !fault.IsUnavailable(err) && !fault.HasKind(err, countersign.KindInternal)
	if err == nil || refused || r.Context().Err() != nil {
		return false
	}
	p.frame.Log.LogAttrs(r.Context(), slog.LevelError, "the log of API requests can't be read", slog.Any("error", err))
	return true
}

func (p *Pages) exportReport(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	rep := p.readReport(r, ws)
	if rep.errs != nil {
		return fault.Invalid("report_filter", strings.TrimSuffix(rep.errs[0].Text, "."))
	}
	rep.whole = true
	if err := p.fillReport(r, rep); err != nil {
		return err
	}
	return p.frame.Send(w, r, "text/csv; charset=utf-8", string(rep.metric)+"-by-"+string(rep.split)+".csv", func(out io.Writer) error {
		lines := rep.lines()
		for i, cells := range lines {
			lines[i] = spreadsheet.Row(cells)
		}
		return csv.NewWriter(out).WriteAll(lines)
	})
}

package pages_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/requestid"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/media"
	"github.com/countersign/countersign/internal/store/requests"
	"github.com/countersign/countersign/internal/webtest"
)

// logCalls puts calls of the workspace ada into the log, which have it then.
func (s team) logCalls(t *testing.T, calls ...requests.Entry) {
	t.Helper()
	ws := must.Get(s.Workspace(t.Context(), operator, "ada"))(t)
	for i, c := range calls {
		c.Number, c.Workspace, c.Endpoint, c.Method = requestid.First(today)+requestid.Number(i), ws.ID, "/api/purchases/validation", http.MethodPost
		s.Requests.Put(&c)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	s.Requests.Run(ended)
}

// row is the text of the row of a table that begins with a text.
func row(p *webtest.Page, begin string) string {
	for _, n := range p.All("tr") {
		if text := strings.Join(strings.Fields(webtest.TextOf(n)), " "); strings.HasPrefix(text, begin) {
			return text
		}
	}
	p.T.Errorf("no row begins with %q: %s", begin, p.Text())
	return ""
}

func wantRow(t *testing.T, p *webtest.Page, want string) {
	t.Helper()
	begin, _, _ := strings.Cut(want, " ")
	expect.Equal(t, row(p, begin), want)
}

// sellThree sells on two days, in two currencies; one purchase is refunded.
func (s team) sellThree(t *testing.T) {
	t.Helper()
	last, before := today.Add(-time.Hour), time.Date(2026, 10, 31, 23, 59, 59, 0, time.UTC)
	s.sell(t, store.Purchase{Code: "sold-today", Price: 4900, Currency: "USD", SoldAt: countersign.At(last)})
	s.sell(t, store.Purchase{Code: "sold-before", Price: 1050, Currency: "EUR", ItemID: 101, SoldAt: countersign.At(before)})
	_, gone := s.sell(t, store.Purchase{Code: "sold-and-gone", Price: 100, Currency: "USD", SoldAt: countersign.At(before)})
	must.Get(s.EndPurchase(t.Context(), operator, gone.Code, store.StateRefunded))(t)
}

func TestAReportCountsSalesByDayAndByItem(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		s.sellThree(t)
		b := s.as(t, "viewer")
		days := "&from=2026-10-30&to=2026-11-01"
		p := b.Get("/w/ada/reports?metric=sales" + days).Status(http.StatusOK).Says("not over yet")
		for _, want := range []string{"2026-11-01 (today, not over yet) 1 0", "2026-10-31 2 1", "2026-10-30 0 0", "Total 3 1"} {
			wantRow(t, p, want)
		}
		p = b.Get("/w/ada/reports?metric=revenue" + days)
		wantRow(t, p, "2026-10-31 10.50 1.00")
		wantRow(t, p, "Total 10.50 50.00")
		p = b.Get("/w/ada/reports?metric=sales&split=item" + days)
		expect.Equalf(t, len(p.Having("href", "/w/ada/purchases?from=2026-10-30&item=101&to=2026-11-01")), 1, "nothing leads to the purchases of an item")
		b.Get("/w/ada/reports?metric=sales&from=2024-01-01&to=2024-01-02").Says("Nothing was counted")
		file := b.Get("/w/ada/reports.csv?metric=revenue" + days).Status(http.StatusOK)
		if want := "day,EUR,USD,complete\n2026-11-01,0.00,49.00,no\n2026-10-31,10.50,1.00,yes\n2026-10-30,0.00,0.00,yes\n"; file.Body != want {
			t.Errorf("%s", file.Body)
		}
		expect.Equal(t, file.Header.Get("Content-Disposition"), `attachment; filename="revenue-by-day.csv"`)
	})
}

func TestAReportOfDaysHasAChartOfItsTable(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		s.sellThree(t)
		s.logCalls(t, requests.Entry{Item: 1229, Status: 200})
		b := s.as(t, "viewer")
		for path, chart := range map[string]string{
			"/w/ada": "calls: success error", "/w/ada/reports": "report: success", "/w/ada/reports?metric=failed": "", "/w/ada/reports?metric=sales": "report: primary warning",
			"/w/ada/reports?metric=revenue": "report: primary warning", "/w/ada/reports?metric=sales&split=item": "",
		} {
			p, found := b.Get(path), ""
			for _, n := range p.All("div") {
				if table := webtest.Attr(n, "data-chart"); table != "" {
					found = table + ": " + webtest.Attr(n, "data-colors")
					if len(p.Having("id", table)) != 1 || webtest.Attr(n.Parent, "aria-hidden") != "true" {
						t.Errorf("%s: the chart has no table, or is read out", path)
					}
				}
			}
			expect.Equalf(t, found, chart, "%s: chart", path)
		}
		if p := b.Get("/w/ada/items"); strings.Contains(p.Body, "chart.js") {
			t.Error("a page without a chart loads its script")
		}
		wantRow(t, b.Get("/w/ada"), "2026-11-01 (today, not over yet) 1 0")
	})
}

func TestAReportCountsCalls(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		k, _, err := s.CreateKey(t.Context(), operator, store.NewKey{Workspace: "ada", Name: "=till()", Class: store.ClassSecret})
		must.Do(t, err)
		s.logCalls(t, requests.Entry{Key: k.ID, Item: 1229, Status: 200}, requests.Entry{Key: k.ID, Item: 1229, Status: 200},
			requests.Entry{Key: k.ID, Status: 404, Reason: "purchase_not_found"})
		b := s.as(t, "viewer")
		wantRow(t, b.Get("/w/ada/reports").Status(http.StatusOK).Says("2026-11-01 (today, not over yet)"), "Total 2")
		wantRow(t, b.Get("/w/ada/reports?metric=failed&split=key"), "=till() 1")
		wantRow(t, b.Get("/w/ada/reports?metric=valid&split=item"), "Total 2")
		p := b.Get("/w/ada/reports?metric=failed&split=result")
		wantRow(t, p, "purchase_not_found 1")
		expect.Equalf(t, len(p.Having("href", "/w/ada/requests?reason=purchase_not_found&result=failed")), 1, "nothing leads to the calls")
		file := b.Get("/w/ada/reports.csv?metric=valid&split=key").Status(http.StatusOK).Body
		if !strings.HasSuffix(file, ",'=till(),2\n") {
			t.Error(file)
		}
	})
}

func TestAReportCountsLicensesAndDownloads(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		_, sold := s.sell(t, store.Purchase{Code: "to-be-licensed"})
		s.license(t, sold.Code, "a.example")
		s.license(t, sold.Code, "localhost")
		must.Get(s.Media.SetItem(t.Context(), operator, sold.ItemID, media.File, media.Upload{Name: "rain.zip", From: strings.NewReader("rain")}))(t)
		token, _, err := s.Media.CreateLink(t.Context(), operator, sold.ID, time.Hour)
		must.Do(t, err)
		s.browser(t).Get("/download/" + token).Status(http.StatusOK)
		b := s.as(t, "viewer")
		for metric, want := range map[string]string{"licenses": "2", "downloads": "1"} {
			p := b.Get("/w/ada/reports?from=2026-11-01&metric=" + metric).Status(http.StatusOK)
			wantRow(t, p, "2026-11-01 (today, not over yet) "+want)
			wantRow(t, p, "Total "+want)
			expect.Equalf(t, len(p.Having("href", "/w/ada/purchases?from=2026-11-01&to=2026-11-01")), 0, "a day leads to the purchases that were sold on it")
			p = b.Get("/w/ada/reports?from=2026-11-01&split=item&metric=" + metric)
			wantRow(t, p, "Total "+want)
			expect.Equalf(t, len(p.Having("href", "/w/ada/items/1229")), 1, "nothing leads to the item")
			file := b.Get("/w/ada/reports.csv?metric=" + metric + "&from=2026-11-01").Status(http.StatusOK)
			head := strings.ToUpper(metric[:1]) + metric[1:]
			if text := "day," + head + ",complete\n2026-11-01," + want + ",no\n"; file.Body != text {
				t.Errorf("%q", file.Body)
			}
			b.Get("/w/ada/reports?split=key&metric=" + metric).Says(head + " are split by day or item. Shown by day.")
		}
		// One is of the sample data.
		b.Get("/w/ada").Says("Licenses in 30 days 3 Files downloaded by buyers: 1.")
	})
}

func TestAReportThatDoesNotApplyIsRefused(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "viewer")
		for query, wrong := range map[string]string{
			"metric=profit":                     "from the list",
			"metric=valid&split=nothing":        "Choose what to split by",
			"from=soon":                         "year, month and day",
			"from=2026-11-02":                   "not come yet",
			"from=2026-10-02&to=2026-10-01":     "after the last",
			"metric=sales&from=2025-10-31":      "366 days at most",
			"to=someday&from=2026-10-01&days=7": "year, month and day",
		} {
			b.Get("/w/ada/reports?" + query).Status(http.StatusUnprocessableEntity).Says(wrong)
			if status := b.Get("/w/ada/reports.csv?" + query).StatusCode; status < 400 || status >= 500 {
				t.Errorf("%s: the file has status %d", query, status)
			}
		}
		b.Get("/w/ada/reports?metric=sales&split=key").Status(http.StatusOK).Says("Sales are split by day or item. Shown by day.", "Measure")
		b.Get("/w/ada/reports?metric=revenue&split=key").Says("Gross revenue is split by day or item. Shown by day.")
		b.Get("/w/ada/reports?metric=valid&split=result").Says("Valid calls are split by day, item or key. Shown by day.")
		b.Get("/w/ada/reports?metric=sales&from=2025-11-01").Status(http.StatusOK) // 366 days
		q := store.SalesQuery{From: countersign.At(today.AddDate(-2, 0, 0)), Until: countersign.At(today)}
		if _, err := s.Sales(t.Context(), operator, "ada", q); !fault.HasCode(err, "time_too_long") {
			t.Error(err)
		}
		if _, err := s.Sales(t.Context(), people.Actor{}, "ada", store.SalesQuery{}); err == nil {
			t.Error("nobody reads sales")
		}
	})
}

package pages

import (
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/requests"
)

// fillReport reads the rows of a report and sorts them.
func (p *Pages) fillReport(r *frame.Request, rep *report) error {
	fill := p.fillActivity
	switch {
	case rep.metric.ofCalls():
		fill = p.fillCalls
	case rep.metric.ofPurchases():
		fill = p.fillSales
	}
	if err := fill(r, rep); err != nil {
		return err
	}
	if rep.split == byDay {
		rep.fillDays()
		return nil
	}
	rep.rows = slices.DeleteFunc(rep.rows, func(row reportRow) bool { return sum(row.numbers) == 0 })
	slices.SortStableFunc(rep.rows, func(a, b reportRow) int { return slices.Compare(b.numbers, a.numbers) })
	return p.nameRows(r, rep)
}

func sum(numbers []int64) (all int64) {
	for _, n := range numbers {
		all += n
	}
	return all
}

var callSplits = map[split]requests.By{byDay: requests.ByDay, byItem: requests.ByItem, byKey: requests.ByKey, byResult: requests.ByResult}

func (p *Pages) fillCalls(r *frame.Request, rep *report) error {
	counts, err := p.store.Requests.Counts(r.Context(), r.Actor, requests.CountQuery{Workspace: rep.ws.ID, From: rep.from, To: rep.until(), By: callSplits[rep.split]})
	rep.columns = []string{labelOf(metricChoices, string(rep.metric))}
	for _, c := range counts {
		n := c.Valid
		if rep.metric == metricFailed {
			n = c.Failed
		}
		rep.rows = append(rep.rows, reportRow{at: c.At, id: c.ID, name: c.Reason, numbers: []int64{n}})
	}
	return err
}

func (p *Pages) fillSales(r *frame.Request, rep *report) error {
	by := store.SalesByDay
	if rep.split == byItem {
		by = store.SalesByItem
	}
	sales, err := p.store.Sales(r.Context(), r.Actor, rep.ws.Account.Username, store.SalesQuery{From: countersign.At(rep.from), Until: countersign.At(rep.until()), By: by})
	if err != nil {
		return err
	}
	rep.columns = []string{"Sales", "No longer active"}
	if rep.metric == metricRevenue {
		rep.columns = currenciesOf(sales, rep.ws.Account.Currency)
	}
	for _, s := range sales {
		row := rep.rowOf(s)
		if rep.metric == metricSales {
			row.numbers[0] += s.Count
			row.numbers[1] += s.Ended
		} else {
			row.numbers[slices.Index(rep.columns, s.Currency)] += int64(s.Revenue)
		}
	}
	return nil
}

var activityKinds = map[metric]store.ActivityKind{metricLicenses: store.LicensesIssued, metricDownloads: store.FilesDownloaded}

func (p *Pages) fillActivity(r *frame.Request, rep *report) error {
	by := store.ActivityByDay
	if rep.split == byItem {
		by = store.ActivityByItem
	}
	all, err := p.store.Activity(r.Context(), r.Actor, rep.ws.Account.Username, store.ActivityQuery{Kind: activityKinds[rep.metric], From: rep.from, Until: rep.until(), By: by})
	rep.columns = []string{labelOf(metricChoices, string(rep.metric))}
	for _, a := range all {
		at, _ := readDay(a.Day)
		rep.rows = append(rep.rows, reportRow{at: at, id: a.Item, numbers: []int64{a.Count}})
	}
	return err
}

// currenciesOf are the currencies of sales, or one where there are none.
func currenciesOf(sales []store.Sales, without string) (all []string) {
	for _, s := range sales {
		all = append(all, s.Currency)
	}
	slices.Sort(all)
	if all = slices.Compact(all); all == nil {
		all = []string{without}
	}
	return all
}

// rowOf is the row of a day or an item, of which the currencies follow each other.
func (rep *report) rowOf(s store.Sales) *reportRow {
	at, _ := readDay(s.Day)
	last := len(rep.rows) - 1
	if last < 0 || rep.rows[last].id != s.Item || !rep.rows[last].at.Equal(at) {
		rep.rows = append(rep.rows, reportRow{at: at, id: s.Item, numbers: make([]int64, len(rep.columns))})
		last++
	}
	return &rep.rows[last]
}

// fillDays adds the days without a count, and puts the newest first.
func (rep *report) fillDays() {
	found := make(map[int64]reportRow, len(rep.rows))
	for _, row := range rep.rows {
		found[row.at.Unix()] = row
	}
	rep.rows = rep.rows[:0:0]
	for day := rep.to; !day.Before(rep.from); day = day.AddDate(0, 0, -1) {
		row, ok := found[day.Unix()]
		if !ok {
			row = reportRow{at: day, numbers: make([]int64, len(rep.columns))}
		}
		rep.rows = append(rep.rows, row)
	}
}

// nameRows adds the names of items and keys: of all rows in a file, of the rows that it shows on a page.
func (p *Pages) nameRows(r *frame.Request, rep *report) (err error) {
	rows := rep.rows
	if !rep.whole {
		rows = rows[:min(len(rows), maxReportRows)]
	}
	var names map[int64]string
	switch rep.split {
	case byKey:
		names, err = p.keyNames(r, rep.ws)
	case byItem:
		ids := make([]int64, len(rows))
		for i, row := range rows {
			ids[i] = row.id
		}
		names, err = p.store.ItemNames(r.Context(), r.Actor, rep.ws.Account.Username, ids)
	default:
		return nil
	}
	for i := range rows {
		rows[i].name = names[rows[i].id]
	}
	return err
}

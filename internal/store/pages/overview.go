package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/requests"
	"github.com/countersign/countersign/internal/store/transfer"
)

// overviewDays is the time of the numbers of the overview, today included, and lastSales how
// many purchases it shows.
const (
	overviewDays = 30
	lastSales    = 10
)

// overview is what the first page of a workspace shows.
type overview struct {
	ws    store.WorkspaceRole
	today time.Time
	setUp store.SetUp
	calls frame.Figure
	sales [2][]store.Sales // of the last days, and of as many before
	// licenses are how many were issued, and downloads how many links were used.
	licenses, downloads int64
	failing             []requests.Count
	days                []requests.Count // with calls
	missing             string           // why calls are not counted
	last                purchaseList
	sample              *transfer.Import // the sample data that the reader may remove, or nil
}

func (p *Pages) showOverview(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	o := &overview{ws: ws, today: dayOf(p.frame.Now()), last: purchaseList{ws: ws}}
	for _, read := range []func(*frame.Request, *overview) error{p.readSetUp, p.readCalls, p.readSales, p.readLastSales, p.readSample} {
		if err := read(r, o); err != nil {
			return err
		}
	}
	page := frame.Page{Title: ws.Account.Username, Lead: ws.Account.Name.FullName, Body: overviewView(o), Scripts: []string{frame.ChartScript}}
	if isManager(ws) {
		page.Action = frame.LinkButton{Link: frame.Link{Label: "Try the API", Path: consolePath(ws, ""), Icon: "square-terminal"}, Kind: frame.Primary}
	}
	return p.frame.Show(w, r, page)
}

func (p *Pages) readSetUp(r *frame.Request, o *overview) (err error) {
	o.setUp, err = p.store.SetUp(r.Context(), r.Actor, o.ws.Account.Username)
	return err
}

// readCalls counts calls. The page stays when the log of calls is gone.
func (p *Pages) readCalls(r *frame.Request, o *overview) error {
	tomorrow := o.today.AddDate(0, 0, 1)
	count := func(from time.Time, by requests.By) ([]requests.Count, error) {
		return p.store.Requests.Counts(r.Context(), r.Actor, requests.CountQuery{Workspace: o.ws.ID, From: from, To: tomorrow, By: by})
	}
	today, err := count(o.today, requests.ByResult)
	if err == nil {
		o.failing, err = count(o.from(), requests.ByResult)
	}
	if err == nil {
		o.days, err = count(o.from(), requests.ByDay)
	}
	o.failing = slices.DeleteFunc(o.failing, func(c requests.Count) bool { return c.Failed == 0 })
	o.failing = o.failing[:min(len(o.failing), 5)]
	switch {
	case p.logGone(r, err):
		o.missing = "The log of calls can't be read at present."
	case err != nil:
		return err
	case !p.store.Requests.On():
		o.missing = "Calls are not logged."
	}
	o.calls = o.callsFigure(today)
	return nil
}

func (o *overview) callsFigure(today []requests.Count) frame.Figure {
	f := frame.Figure{Label: "Calls today", Value: "–", Note: o.missing}
	if o.missing != "" {
		return f
	}
	var valid, failed int64
	for _, c := range today {
		valid, failed = valid+c.Valid, failed+c.Failed
	}
	o.setUp.Call = o.setUp.Call || valid+failed > 0
	f.Value = frame.Thousands(valid) + " valid"
	f.Note = frame.Thousands(failed) + " failed"
	if failed > 0 {
		f.Note += fmt.Sprintf(", %.1f\u00a0%% of all", 100*float64(failed)/float64(valid+failed))
	}
	f.Note += ". Today, in UTC, is not over yet."
	f.Link = frame.Link{Label: "Failed calls", Path: requestsPath(o.ws, "?result=failed")}
	return f
}

// from is the first of the days.
func (o *overview) from() time.Time { return o.today.AddDate(0, 0, 1-overviewDays) }

func (p *Pages) readSales(r *frame.Request, o *overview) (err error) {
	username, from, until := o.ws.Account.Username, o.from(), o.today.AddDate(0, 0, 1)
	for i := range o.sales {
		before := -i * overviewDays
		if o.sales[i], err = p.store.Sales(r.Context(), r.Actor, username, store.SalesQuery{
			From: countersign.At(from.AddDate(0, 0, before)), Until: countersign.At(until.AddDate(0, 0, before)), By: store.SalesTogether,
		}); err != nil {
			return err
		}
	}
	for kind, count := range map[store.ActivityKind]*int64{store.LicensesIssued: &o.licenses, store.FilesDownloaded: &o.downloads} {
		all, err := p.store.Activity(r.Context(), r.Actor, username, store.ActivityQuery{Kind: kind, From: from, Until: until, By: store.ActivityTogether})
		if err != nil {
			return err
		}
		for _, a := range all {
			*count += a.Count
		}
	}
	return nil
}

func (p *Pages) readLastSales(r *frame.Request, o *overview) error {
	return p.readPurchases(r, &o.last, store.PurchaseFilter{Limit: lastSales}, store.PurchasePlace{})
}

func (o *overview) figures() frame.Figures {
	return frame.Figures{
		o.calls, o.salesFigure(), o.revenueFigure(),
		{
			Label: "Licenses in 30 days", Value: frame.Thousands(o.licenses), Note: "Files downloaded by buyers: " + frame.Thousands(o.downloads) + ".",
			Link: frame.Link{Label: "Licenses by day", Path: reportsPath(o.ws, "?metric=licenses&days="+strconv.Itoa(overviewDays))},
		},
	}
}

func (o *overview) salesFigure() frame.Figure {
	var sold [2]int64
	var ended int64
	for i, all := range o.sales {
		for _, s := range all {
			sold[i] += s.Count
		}
	}
	for _, s := range o.sales[0] {
		ended += s.Ended
	}
	f := frame.Figure{Label: "Sales in 30 days", Value: frame.Thousands(sold[0]), Note: change(sold[0]-sold[1]) + " the 30 days before."}
	if ended > 0 {
		f.Note += " " + frame.Thousands(ended) + " no longer active."
	}
	f.Link = frame.Link{Label: "Purchases of these days", Path: purchasesPath(o.ws, "?from="+o.from().Format(time.DateOnly)+"&to="+o.today.Format(time.DateOnly))}
	return f
}

// change compares a number with an earlier one.
func change(by int64) string {
	switch {
	case by > 0:
		return frame.Thousands(by) + " more than in"
	case by < 0:
		return frame.Thousands(-by) + " fewer than in"
	}
	return "As many as in"
}

func (o *overview) revenueFigure() frame.Figure {
	amounts := []string{}
	for _, s := range o.sales[0] {
		amounts = append(amounts, s.Revenue.In(s.Currency))
	}
	if len(amounts) == 0 {
		amounts = []string{countersign.Money(0).In(o.ws.Account.Currency)}
	}
	return frame.Figure{
		Label: "Gross revenue in 30 days", Value: strings.Join(amounts, ", "), Note: "Prices as sold, refunded purchases included.",
		Link: frame.Link{Label: "Revenue by day", Path: reportsPath(o.ws, "?metric=revenue&days="+strconv.Itoa(overviewDays))},
	}
}

// checklist is what is still to do before the first customer. Who may not do it is not led there.
func (o *overview) checklist() frame.Checklist {
	all := frame.Checklist{
		{Title: "Profile", Text: "What the API shows about the author."},
		{Title: "First item", Text: "What you sell."},
		{Title: "First key", Text: "What a program calls the API with."},
		{Title: "First purchase", Text: "A sale of an item, with a code for its buyer."},
		{Title: "First call", Text: "Validate a purchase code with your key. This takes up to a minute to show."},
	}
	for i, done := range []bool{o.setUp.Profile, o.setUp.Item, o.setUp.Key, o.setUp.Purchase, o.setUp.Call} {
		if done {
			all[i].Kind = frame.Good
		}
	}
	if !o.setUp.Profile && isOwner(o.ws) {
		all[0].Action = frame.Link{Label: "Fill in", Path: workspacePath(o.ws.Account.Username, profileForm.below)}
	}
	if !o.setUp.Item && isManager(o.ws) {
		all[1].Action = frame.Link{Label: "New item", Path: itemsPath(o.ws, "/new")}
	}
	if !o.setUp.Key && isOwner(o.ws) {
		all[2].Action = frame.Link{Label: "New key", Path: keysPath(o.ws, "/new")}
	}
	if !o.setUp.Purchase && o.setUp.Item && isManager(o.ws) {
		all[3].Action = frame.Link{Label: "Record a purchase", Path: purchasesPath(o.ws, "/new")}
	}
	if !o.setUp.Call && isManager(o.ws) {
		all[4].Action = frame.Link{Label: "Open the console", Path: consolePath(o.ws, "")}
	}
	return all
}

// asks reports whether something of the checklist is left to do that the reader may do.
func (o *overview) asks() bool {
	return !o.setUp.Done() && slices.ContainsFunc(o.checklist(), func(c frame.Check) bool { return c.Action.Label != "" })
}

// dayRows are the calls of each day, the newest first.
func (o *overview) dayRows() (rows []frame.Row) {
	found := make(map[int64]requests.Count, len(o.days))
	for _, c := range o.days {
		found[c.At.Unix()] = c
	}
	for day := o.today; !day.Before(o.from()); day = day.AddDate(0, 0, -1) {
		c := found[day.Unix()]
		rows = append(rows, frame.Row{frame.Words(dayLabel(day, o.today)), frame.Amount(frame.Thousands(c.Valid)), frame.Amount(frame.Thousands(c.Failed))})
	}
	return rows
}

func (o *overview) failingRows() []frame.Row {
	rows := make([]frame.Row, len(o.failing))
	for i, c := range o.failing {
		rows[i] = frame.Row{
			frame.Link{Label: c.Reason, Path: requestsPath(o.ws, "?"+url.Values{"reason": {c.Reason}}.Encode())}, frame.Words(requests.Why(c.Reason)), frame.Amount(frame.Thousands(c.Failed)),
		}
	}
	return rows
}

func (o *overview) noFailing() frame.Empty {
	if o.missing != "" {
		return frame.Empty{Icon: "activity", Title: "Not known", Text: o.missing}
	}
	return frame.Empty{Icon: "activity", Title: "No call has failed"}
}

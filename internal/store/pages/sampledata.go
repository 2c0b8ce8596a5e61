package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/transfer"
)

func samplePath(ws store.WorkspaceRole, below string) string {
	return workspacePath(ws.Account.Username, "/sample"+below)
}

// readSample finds out whether the workspace has sample data, for those who may remove it.
func (p *Pages) readSample(r *frame.Request, o *overview) (err error) {
	if isManager(o.ws) {
		o.sample, err = p.store.Transfer.Sample(r.Context(), r.Actor, o.ws.Account.Username)
	}
	return err
}

// loadSample answers a button that asks nothing first: the workspace is empty, and another
// button takes the data back.
func (p *Pages) loadSample(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	said, err := p.sampleLoaded(r, ws.Account.Username)
	if err != nil {
		return err
	}
	return p.frame.Redirect(w, r, workspacePath(ws.Account.Username, ""), said)
}

// sampleLoaded loads sample data, and says so.
func (p *Pages) sampleLoaded(r *frame.Request, workspace string) (string, error) {
	report, err := p.store.Transfer.LoadSample(r.Context(), r.Actor, workspace)
	if err != nil {
		return "", err
	}
	return "Sample data was loaded: " + sampleCounts(report.Items.New, report.Purchases.New) + ".", nil
}

func sampleCounts(items, purchases int64) string {
	return frame.Count(int(items), "item") + " and " + frame.Count(int(purchases), "purchase")
}

// removeSample asks before it removes sample data, and then says what it kept and why.
func (p *Pages) removeSample(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	if err := p.store.MayManage(r.Context(), r.Actor, ws.Account.Username); err != nil {
		return err
	}
	loaded, err := p.store.Transfer.Sample(r.Context(), r.Actor, ws.Account.Username)
	if err != nil {
		return err
	}
	if loaded == nil {
		return p.frame.Redirect(w, r, workspacePath(ws.Account.Username, ""), "This workspace has no sample data.")
	}
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Remove sample data", Crumbs: []frame.Link{workspaceCrumb(ws)}, Path: samplePath(ws, "/remove"), Label: "Remove", Cancel: workspacePath(ws.Account.Username, ""),
		Consequence: "The " + sampleCounts(loaded.Counts.Items.New, loaded.Counts.Purchases.New) + " that were loaded are removed, and their purchase codes are no longer valid. " +
			"What was changed or used since stays, and so do items with purchases or keys of yours.",
		Form: frame.Form{Do: func(url.Values) error {
			report, err := p.store.Transfer.RemoveSample(r.Context(), r.Actor, ws.Account.Username)
			if err != nil {
				return err
			}
			said := "Sample data was removed: " + sampleCounts(report.Items.Removed, report.Purchases.Removed) + "."
			if len(report.Left) == 0 {
				return p.frame.Redirect(w, r, workspacePath(ws.Account.Username, ""), said)
			}
			return p.frame.Show(w, r, frame.Page{
				Title: "Sample data that stays", Lead: said, Crumbs: []frame.Link{workspaceCrumb(ws)}, Body: sampleLeftView(ws, report),
			})
		}},
	})
}

// leftRows are what the removal of sample data has kept, and why.
func leftRows(ws store.WorkspaceRole, left []transfer.ImportedRow) []frame.Row {
	rows := make([]frame.Row, len(left))
	for i, l := range left {
		link, kind := frame.Link{Label: l.Name, Path: purchasePath(ws, l.ID, "")}, "Purchase"
		if l.Kind == "item" {
			link, kind = frame.Link{Label: strconv.FormatInt(l.ID, 10) + " " + l.Name, Path: itemPath(ws, l.ID, "")}, "Item"
		}
		rows[i] = frame.Row{link, frame.Words(kind), frame.Words("It " + l.Why() + ".")}
	}
	return rows
}

// leftLead says how much the removal has kept, and how much of that is listed.
func leftLead(report transfer.UndoReport) string {
	all := sampleCounts(report.Items.Left, report.Purchases.Left) + " stay as they are."
	if n := len(report.Left); int64(n) < report.Items.Left+report.Purchases.Left {
		all += fmt.Sprintf(" The first %d are listed.", n)
	}
	return all
}

package pages

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/transfer"
	"github.com/countersign/countersign/internal/wording"
)

// oneImport is what the page of an import shows.
type oneImport struct {
	ws store.WorkspaceRole
	transfer.ImportJob
	// rejected are the first rejected rows.
	rejected []transfer.RejectedRow
}

// shownRejected is how many rejected rows the page has.
const shownRejected = 20

// importJob is the import that the address names.
func (p *Pages) importJob(r *frame.Request, ws store.WorkspaceRole) (oneImport, error) {
	job, err := p.store.Transfer.Progress(r.Context(), r.Actor, idOf(r.PathValue("job")))
	return oneImport{ws: ws, ImportJob: job}, err
}

func (p *Pages) showImport(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	one, err := p.importJob(r, ws)
	if err == nil && one.Report != nil && one.Report.Bad > 0 {
		one.rejected, err = p.store.Transfer.Rejected(r.Context(), r.Actor, one.ID, shownRejected)
	}
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, frame.Page{
		Title: "Import of " + one.File, Crumbs: importsCrumbs(ws), Body: importView(one), Running: !one.HasEnded(),
	})
}

func (p *Pages) cancelImport(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	one, err := p.importJob(r, ws)
	if err != nil {
		return err
	}
	said := "The import was cancelled. Nothing was imported."
	if err := p.store.Transfer.Cancel(r.Context(), r.Actor, one.ID); fault.HasCode(err, "job_ended") {
		said = "The import had already ended."
	} else if err != nil {
		return err
	}
	return p.frame.Redirect(w, r, importPath(ws, one.ID, ""), said)
}

// sendRejected sends the rejected rows with their reasons.
func (p *Pages) sendRejected(w http.ResponseWriter, r *frame.Request, _ store.WorkspaceRole) error {
	_, rows, err := p.store.Transfer.Result(r.Context(), r.Actor, idOf(r.PathValue("job")))
	if err != nil {
		return err
	}
	if rows == nil {
		return fault.NotFound("", "No row was rejected.")
	}
	err = p.frame.Send(w, r, "text/csv; charset=utf-8", "rejected.csv", func(out io.Writer) error {
		_, err := io.Copy(out, rows)
		return err
	})
	return errors.Join(err, rows.Close())
}

// undoImport asks before an import is taken back.
func (p *Pages) undoImport(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	one, err := p.importJob(r, ws)
	if err != nil {
		return err
	}
	if !one.CanBeUndone() {
		return fault.Conflict("nothing_to_undo", "The import has nothing to undo, or it was already undone.")
	}
	path := importPath(ws, one.ID, "")
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Undo the import of " + one.File, Crumbs: append(importsCrumbs(ws), frame.Link{Label: one.File, Path: path}),
		Consequence: one.consequence(), Path: path + "/undo", Label: "Undo", Cancel: path,
		Fields: []frame.Field{{Name: "rest", Label: "Leave out what was changed or used since", Kind: frame.Switch, Help: "Without it, nothing is undone when there is such a row."}},
		Form: frame.Form{Do: func(in url.Values) error {
			report, err := p.store.Transfer.UndoJob(r.Context(), r.Actor, one.ID, in.Get("rest") != "")
			if err != nil {
				return err
			}
			left := report.Items.Left + report.Purchases.Left
			if !report.Written {
				return wrongField("rest", fmt.Sprintf("%s changed or used since the import. Leave such rows out to undo the rest.", rowsWere(left)))
			}
			said := "The import was undone."
			if left > 0 {
				said = fmt.Sprintf("The import was undone. %s changed or used since, and not undone.", rowsWere(left))
			}
			return p.frame.Redirect(w, r, path, said)
		}},
	})
}

// howFar says in words how far an import is, how fast it is read, and how long that takes.
func (one oneImport) howFar() string {
	p := one.Progress
	rejected := frame.Thousands(int64(p.Bad)) + " rejected"
	switch {
	case one.IsWaiting():
		return "The import waits for its turn."
	case p.IsRead() && one.DryRun:
		return "The whole file is read: " + frame.Count(p.Lines, "row") + " · " + rejected + ". It is now compared with the store."
	case p.IsRead():
		return "The whole file is read: " + frame.Count(p.Lines, "row") + " · " + rejected + ". It is now imported."
	}
	said := []string{frame.Count(p.Lines, "row") + " read", wording.Size(p.ReadBytes) + " of " + wording.Size(p.SizeBytes), rejected}
	if speed := p.LinesPerSecond(); speed > 0 {
		said = append(said, frame.Count(int(speed), "row")+" a second", "about "+roundTime(p.ReadingLeft())+" of reading left")
	}
	return strings.Join(said, " · ")
}

// roundTime is a duration in seconds or minutes, rounded up.
func roundTime(d time.Duration) string {
	if d <= 90*time.Second {
		return frame.Count(int(math.Ceil(d.Seconds())), "second")
	}
	return frame.Count(int(math.Ceil(d.Minutes())), "minute")
}

func rowsWere(n int64) string {
	if n == 1 {
		return "1 row was"
	}
	return frame.Thousands(n) + " rows were"
}

// consequence says what an undo does.
func (one oneImport) consequence() string {
	var said []string
	i, s := one.Report.Items, one.Report.Purchases
	if i.New > 0 {
		said = append(said, frame.Count(int(i.New), "item"))
	}
	if s.New > 0 {
		said = append(said, frame.Count(int(s.New), "purchase"))
	}
	text := ""
	if len(said) > 0 {
		text = "What the import added is removed: " + strings.Join(said, " and ") + ". "
	}
	if changed := i.Changed + s.Changed; changed > 0 {
		text += "What the import changed is restored: " + frame.Count(int(changed), "row") + "."
	}
	if text == "" {
		text = "Refunds that only this file has no longer count."
	}
	return strings.TrimSpace(text)
}

// title says how an import ended, and what that means.
func (one oneImport) title() (kind frame.Kind, title, text string) {
	switch {
	case one.Error != "":
		return frame.Danger, "The import failed", frame.Sentence(one.Error) + " Nothing was imported."
	case one.Report == nil:
		return frame.Note, "The import was cancelled", "Nothing was imported."
	case !one.UndoneAt.IsZero():
		return frame.Note, "The import was undone", "Items and purchases are as before it."
	case one.DryRun:
		return frame.Note, "This was a dry run", "Nothing was imported. The numbers are what an import would do."
	case one.Report.Bad == one.Report.Lines:
		return frame.Warning, "Nothing was imported", "The file has no row that could be imported."
	case !one.Report.Written:
		return frame.Warning, "Nothing was imported", "Rows were rejected. To import the others, switch on “Leave out rejected rows”."
	}
	if bad := one.Report.Bad; bad > 0 {
		title := fmt.Sprintf("%s of %s rows imported", frame.Thousands(int64(one.Report.Lines-bad)), frame.Thousands(int64(one.Report.Lines)))
		return frame.Warning, title, rowsWere(int64(bad)) + " rejected. You can undo the import for 24 hours."
	}
	return frame.Good, "The file is imported", "You can undo it for 24 hours."
}

// countedRows is what became of rows of one kind.
func (one oneImport) countedRows() []frame.Row {
	row := func(name string, m transfer.Moved) frame.Row {
		return frame.Row{frame.Words(name), frame.Amount(frame.Thousands(m.New)), frame.Amount(frame.Thousands(m.Changed)), frame.Amount(frame.Thousands(m.Same)), frame.Amount(frame.Thousands(m.Repeated))}
	}
	return []frame.Row{row("Items", one.Report.Items), row("Purchases", one.Report.Purchases)}
}

// rowsRead says how many rows there were, and which of them were not imported.
func (one oneImport) rowsRead() string {
	said := []string{frame.Count(one.Report.Lines, "row") + " read", frame.Thousands(int64(one.Report.Bad)) + " rejected"}
	for _, s := range one.Report.Skipped {
		said = append(said, frame.Thousands(int64(s.Count))+" left out: "+s.Word)
	}
	if skipped := one.Report.Kept.Count; skipped > 0 {
		said = append(said, frame.Thousands(int64(skipped))+" stay refunded, charged back or revoked")
	}
	if n := one.Report.NoPrice.Count; n > 0 {
		said = append(said, frame.Thousands(int64(n))+" without a price: their orders have several rows and one total")
	}
	if n := one.Report.RepeatedRefunds; n.Count > 0 {
		said = append(said, fmt.Sprintf("%s taken for refunds of earlier imports, because no refund_id tells them apart (%s)", frame.Count(n.Count, "row"), transfer.NamedLines(n.Count, n.Lines)))
	}
	if more := one.Report.Split; more > 0 {
		said = append(said, frame.Count(more, "more purchase")+" by rows with several codes")
	}
	return strings.Join(said, " · ")
}

// unknown names the texts of which nobody has said what they mean, "" for none.
func (one oneImport) unknown() string {
	c := one.Report.CSV
	if c == nil || len(c.UnknownStates)+len(c.UnknownItems) == 0 {
		return ""
	}
	return "Choose what these mean: " + strings.Join(slices.Concat(c.UnknownStates, c.UnknownItems), ", ")
}

// columns is what the columns of a file of CSV were read as, of a known shop those that matter.
func (one oneImport) columns() []frame.Row {
	if one.Report.CSV == nil {
		return nil
	}
	var rows []frame.Row
	for _, c := range one.Report.CSV.Columns {
		if c.Field == "" && one.Report.CSV.Shop != "" {
			continue
		}
		field := frame.Muted("ignored")
		if c.Field != "" {
			field = frame.Mono(c.Field)
		}
		rows = append(rows, frame.Row{frame.Words(c.Name), field})
	}
	return rows
}

// rejectedRows are the first rejected rows with their reasons.
func (one oneImport) rejectedRows() []frame.Row {
	rows := make([]frame.Row, len(one.rejected))
	for i, r := range one.rejected {
		rows[i] = frame.Row{frame.Mono(shortened(r.Text)), frame.Words(frame.Sentence(r.Reason))}
	}
	return rows
}

func (one oneImport) rejectedLead() string {
	if one.Report.Bad <= len(one.rejected) {
		return ""
	}
	return fmt.Sprintf("The first %d. The file has all of them.", len(one.rejected))
}

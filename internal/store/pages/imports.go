package pages

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/transfer"
)

// maxImport is the size of the largest file that the page takes, in bytes.
const maxImport = 200 << 20

func importsPath(ws store.WorkspaceRole, below string) string {
	return workspacePath(ws.Account.Username, "/import"+below)
}

func importPath(ws store.WorkspaceRole, job int64, below string) string {
	return importsPath(ws, "/"+strconv.FormatInt(job, 10)+below)
}

func importsCrumbs(ws store.WorkspaceRole) []frame.Link {
	return []frame.Link{workspaceCrumb(ws), {Label: "Import", Path: importsPath(ws, "")}}
}

// importForm is what the page of imports shows.
type importForm struct {
	ws      store.WorkspaceRole
	jobs    []transfer.ImportJob
	uploads []transfer.Upload
	errs    frame.Errors
}

func (p *Pages) showImports(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	page, err := p.importsPage(r, importForm{ws: ws})
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, page)
}

func (p *Pages) importsPage(r *frame.Request, f importForm) (page frame.Page, err error) {
	if f.jobs, err = p.store.Transfer.Jobs(r.Context(), r.Actor, f.ws.Account.Username); err == nil {
		f.uploads, err = p.store.Transfer.Uploads(r.Context(), r.Actor, f.ws.Account.Username)
	}
	return frame.Page{
		Title: "Import", Crumbs: importsCrumbs(f.ws)[:1], Body: importsView(f),
		Lead: "Items or purchases from another shop, a spreadsheet or another store.",
	}, err
}

// upload takes a file, and leads to the page on which its columns get their fields.
func (p *Pages) upload(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	if err := p.store.MayManage(r.Context(), r.Actor, ws.Account.Username); err != nil {
		return err
	}
	id, err := p.keepUpload(w, r, ws)
	if err == nil {
		return p.frame.Redirect(w, r, uploadPath(ws, id, ""), "")
	}
	wrong, explained := frame.FormErrors(aboutFile(err, "file"), "file")
	if !explained {
		return err
	}
	page, failed := p.importsPage(r, importForm{ws: ws, errs: wrong})
	if failed != nil {
		return failed
	}
	return p.frame.Refuse(w, r, page, err)
}

// keepUpload reads the form.
func (p *Pages) keepUpload(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) (id int64, err error) {
	u, err := r.Upload(w, "file")
	if err != nil {
		return 0, err
	}
	if u.File == nil {
		return 0, fault.Invalid("file", "Choose a file.")
	}
	return p.store.Transfer.Upload(r.Context(), r.Actor, transfer.NewImport{File: u.Name, Workspace: ws.Account.Username}, u.File)
}

// aboutFile makes a refusal one of the field of the file.
func aboutFile(err error, field string) error {
	if apiErr := fault.Of(err); apiErr != nil && apiErr.Kind.Status() < http.StatusInternalServerError {
		return fault.WithFields(apiErr, map[string]string{field: apiErr.Message})
	}
	return err
}

func (f importForm) rows() []frame.Row {
	rows := make([]frame.Row, len(f.jobs))
	for i, j := range f.jobs {
		rows[i] = frame.Row{
			frame.Link{Label: cmp.Or(j.File, "(no name)"), Path: importPath(f.ws, j.ID, "")},
			frame.Time(j.CreatedAt.Time), importState(j), frame.Words(importCounts(j)), f.undo(j),
		}
	}
	return rows
}

// uploadRows are the files that wait.
func (f importForm) uploadRows() []frame.Row {
	rows := make([]frame.Row, len(f.uploads))
	for i, u := range f.uploads {
		which := fmt.Sprintf("%s, upload %d", u.File, u.ID)
		rows[i] = frame.Row{
			frame.Link{Label: cmp.Or(u.File, "(no name)"), Path: uploadPath(f.ws, u.ID, "")}, frame.Time(u.CreatedAt.Time),
			frame.Group(frame.LinkButton{Link: frame.Link{Label: "Continue", Path: uploadPath(f.ws, u.ID, "")}, Context: "with " + which},
				frame.Button{Label: "Discard", Path: uploadPath(f.ws, u.ID, "/discard"), Kind: frame.Danger, Context: which}),
		}
	}
	return rows
}

func (f importForm) undo(j transfer.ImportJob) templ.Component {
	if !j.CanBeUndone() {
		return templ.NopComponent
	}
	return frame.LinkButton{Link: frame.Link{Label: "Undo", Path: importPath(f.ws, j.ID, "/undo")}, Kind: frame.Danger, Context: "the import of " + j.File}
}

// importState says in a word how an import is.
func importState(j transfer.ImportJob) templ.Component {
	switch {
	case !j.HasEnded():
		return frame.Badge{Text: "Running", Kind: frame.Note}
	case j.Error != "":
		return frame.Badge{Text: "Failed", Kind: frame.Danger}
	case j.Report == nil:
		return frame.Badge{Text: "Cancelled"}
	case !j.UndoneAt.IsZero():
		return frame.Badge{Text: "Undone"}
	case j.DryRun:
		return frame.Badge{Text: "Dry run", Kind: frame.Note}
	case !j.Report.Written || j.Report.Bad == j.Report.Lines:
		return frame.Badge{Text: "Nothing imported", Kind: frame.Warning}
	}
	return frame.Badge{Text: "Imported", Kind: frame.Good}
}

// importCounts sums up an import.
func importCounts(j transfer.ImportJob) string {
	if j.Report == nil {
		return "–"
	}
	items, purchases := j.Report.Items, j.Report.Purchases
	return fmt.Sprintf("%s new · %s changed · %s rejected", frame.Thousands(items.New+purchases.New), frame.Thousands(items.Changed+purchases.Changed), frame.Thousands(int64(j.Report.Bad)))
}

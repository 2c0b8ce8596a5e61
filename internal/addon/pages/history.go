package pages

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

// perPage is how many lines a page of a long list has.
const perPage = 50

var historyCrumb = frame.Link{Label: "History", Path: pathHistory}

// before reads from which number on a list continues; what is no number is 0, the
// beginning.
func before(r *frame.Request) int64 {
	n, err := strconv.ParseInt(r.URL.Query().Get("before"), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

func (p *Pages) showHistory(w http.ResponseWriter, r *frame.Request) error {
	from := before(r)
	list, err := p.addon.Settings.Versions(r.Context(), r.Actor, from, perPage)
	if err != nil {
		return err
	}
	now, err := p.addon.Settings.Published(r.Context())
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, frame.Page{
		Title: "History", Crumbs: crumbs(), Body: historyView(list, now.Version, versionPager(list, now.Version)),
		Lead: "Every version of the settings that was published. Any of them can be brought back.",
	})
}

// versionPager leads through the versions, which are numbered without a gap.
func versionPager(list []settings.Version, all int64) frame.Pager {
	if len(list) == 0 {
		return frame.Pager{Newer: pathHistory}
	}
	first, last := list[0].Number, list[len(list)-1].Number
	pager := frame.Pager{Text: span("Versions", all-first+1, all-last+1, all)}
	if first < all {
		pager.Newer = pathHistory
	}
	if first+perPage < all {
		pager.Newer += "?before=" + strconv.FormatInt(first+perPage+1, 10)
	}
	if last > 1 {
		pager.Older = pathHistory + "?before=" + strconv.FormatInt(last, 10)
	}
	return pager
}

// versionRows is the table of versions.
func versionRows(list []settings.Version, now int64) (rows []frame.Row) {
	for _, v := range list {
		path, name := versionPath(v.Number), "version "+strconv.FormatInt(v.Number, 10)
		title := frame.Group(frame.Link{Label: "Version " + strconv.FormatInt(v.Number, 10), Path: path})
		look := frame.LinkButton{Link: frame.Link{Label: "Look", Path: path}, Context: "at " + name}
		act := frame.Group(look, frame.LinkButton{Link: frame.Link{Label: "Bring back", Path: path + "/restore"}, Context: name})
		if v.Number == now {
			title = frame.Group(frame.Link{Label: "Version " + strconv.FormatInt(v.Number, 10), Path: path}, frame.Badge{Text: "now", Kind: frame.Good})
			act = look
		}
		rows = append(rows, frame.Row{title, frame.Time(v.At), frame.Words(who(v.ActorKind, v.Actor)), frame.Words(noteOf(v)), act})
	}
	return rows
}

// noteOf is what was said of a version.
func noteOf(v settings.Version) string {
	switch {
	case v.Restored != 0 && v.Note != "":
		return fmt.Sprintf("%s (brings back version %d)", v.Note, v.Restored)
	case v.Restored != 0:
		return fmt.Sprintf("Brings back version %d", v.Restored)
	case v.Note == "":
		return "–"
	}
	return v.Note
}

// oneVersion finds the version that the address names.
func (p *Pages) oneVersion(r *frame.Request) (v settings.VersionDetail, current bool, err error) {
	n, err := number(r, "version")
	if err != nil {
		return v, false, err
	}
	now, err := p.addon.Settings.Published(r.Context())
	if err != nil {
		return v, false, err
	}
	v, err = p.addon.Settings.Version(r.Context(), r.Actor, n)
	return v, v.Number == now.Version, err
}

func (p *Pages) showVersion(w http.ResponseWriter, r *frame.Request) error {
	v, current, err := p.oneVersion(r)
	if err != nil {
		return err
	}
	page := frame.Page{Title: "Version " + strconv.FormatInt(v.Number, 10), Crumbs: crumbs(historyCrumb), Body: versionView(v, current)}
	if !current {
		page.Action = frame.LinkButton{Link: frame.Link{Label: "Bring it back", Path: versionPath(v.Number) + "/restore", Icon: "history"}, Kind: frame.Primary}
	}
	return p.frame.Show(w, r, page)
}

// restoreForm is what the page before a restore shows.
type restoreForm struct {
	settings.VersionDetail
	note string
	errs frame.Errors
}

func (p *Pages) restorePage(f restoreForm) frame.Page {
	return frame.Page{
		Title: fmt.Sprintf("Bring back version %d", f.Number), Body: restoreView(f),
		Crumbs: crumbs(historyCrumb, frame.Link{Label: "Version " + strconv.FormatInt(f.Number, 10), Path: versionPath(f.Number)}),
		Lead:   "Its values are published again, as a new version. Changes that wait in the draft go on waiting there.",
	}
}

func (p *Pages) showRestore(w http.ResponseWriter, r *frame.Request) error {
	v, _, err := p.oneVersion(r)
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, p.restorePage(restoreForm{VersionDetail: v}))
}

func (p *Pages) restore(w http.ResponseWriter, r *frame.Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	v, _, err := p.oneVersion(r)
	if err != nil {
		return err
	}
	done, err := p.addon.Settings.Rollback(r.Context(), r.Actor, v.Number, in.Get("note"))
	if errs, ok := frame.FormErrors(err, "note"); ok && fault.Of(err).Kind == countersign.KindInvalid {
		return p.refuse(w, r, p.restorePage(restoreForm{v, in.Get("note"), errs}), err)
	}
	if err != nil {
		return err
	}
	if done.Nothing {
		return p.frame.Redirect(w, r, versionPath(v.Number), "Nothing was changed: apps receive these values already.")
	}
	return p.frame.Redirect(w, r, versionPath(done.Version.Number), fmt.Sprintf("Version %d is published, with the values of version %d.", done.Version.Number, v.Number))
}

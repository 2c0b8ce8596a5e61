package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/frame"
)

var historyCrumb = frame.Link{Label: "History", Path: pathHistory}

func (p *Pages) showHistory(w http.ResponseWriter, r *frame.Request) error {
	from := frame.Before(r)
	list, err := p.addon.Settings.Versions(r.Context(), r.Actor, from, frame.PerPage)
	if err != nil {
		return err
	}
	now, err := p.addon.Settings.Published(r.Context())
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, frame.Page{
		Title: "History", Crumbs: crumbs(), Body: historyView(list, now.Version, versionPager(list, now.Version)),
		Lead: "Every version of the settings that was published. Any of them can be restored.",
	})
}

// versionPager leads through the versions, which are numbered without a gap.
func versionPager(list []settings.Version, all int64) frame.Pager {
	if len(list) == 0 {
		return frame.Pager{Newer: pathHistory}
	}
	first, last := list[0].Number, list[len(list)-1].Number
	pager := frame.Pager{Text: frame.Span("Versions", all-first+1, all-last+1, all)}
	if first < all {
		pager.Newer = pathHistory
	}
	if first+frame.PerPage < all {
		pager.Newer += "?before=" + strconv.FormatInt(first+frame.PerPage+1, 10)
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
		look := frame.LinkButton{Link: frame.Link{Label: "View", Path: path}, Context: name}
		act := frame.Group(look, frame.LinkButton{Link: frame.Link{Label: "Restore", Path: path + "/restore"}, Context: name})
		if v.Number == now {
			title = frame.Group(frame.Link{Label: "Version " + strconv.FormatInt(v.Number, 10), Path: path}, frame.Badge{Text: "live", Kind: frame.Good})
			act = look
		}
		rows = append(rows, frame.Row{title, frame.Time(v.At), frame.Words(frame.Who(v.ActorKind, v.Actor)), frame.Words(noteOf(v)), act})
	}
	return rows
}

// noteOf is what was said of a version.
func noteOf(v settings.Version) string {
	switch {
	case v.Restored != 0 && v.Note != "":
		return fmt.Sprintf("%s (restores version %d)", v.Note, v.Restored)
	case v.Restored != 0:
		return fmt.Sprintf("Restores version %d", v.Restored)
	case v.Note == "":
		return "–"
	}
	return v.Note
}

// oneVersion is a version, and whether apps receive it now.
type oneVersion struct {
	settings.VersionDetail
	current bool
}

// findVersion finds the version that the address names.
func (p *Pages) findVersion(r *frame.Request) (v oneVersion, err error) {
	n, err := number(r, "version")
	if err != nil {
		return v, err
	}
	now, err := p.addon.Settings.Published(r.Context())
	if err != nil {
		return v, err
	}
	v.VersionDetail, err = p.addon.Settings.Version(r.Context(), r.Actor, n)
	v.current = v.Number == now.Version
	return v, err
}

func (p *Pages) showVersion(w http.ResponseWriter, r *frame.Request, v oneVersion) error {
	page := frame.Page{Title: "Version " + strconv.FormatInt(v.Number, 10), Crumbs: crumbs(historyCrumb), Body: versionView(v)}
	if !v.current {
		page.Action = frame.LinkButton{Link: frame.Link{Label: "Restore", Path: versionPath(v.Number) + "/restore", Icon: "history"}, Kind: frame.Primary}
	}
	return p.frame.Show(w, r, page)
}

func (p *Pages) restorePage(v oneVersion, note string, wrong frame.Errors) frame.Page {
	return frame.Page{
		Title: fmt.Sprintf("Restore version %d", v.Number), Body: restoreView(v, note, wrong),
		Crumbs: crumbs(historyCrumb, frame.Link{Label: "Version " + strconv.FormatInt(v.Number, 10), Path: versionPath(v.Number)}),
		Lead:   "Its values are published again as a new version. Unpublished changes stay in the draft.",
	}
}

func (p *Pages) showRestore(w http.ResponseWriter, r *frame.Request, v oneVersion) error {
	return p.frame.Show(w, r, p.restorePage(v, "", nil))
}

func (p *Pages) restore(w http.ResponseWriter, r *frame.Request, v oneVersion) error {
	return p.frame.Submit(w, r, frame.Form{
		Fields: []string{"note", confirmName},
		Do: func(in url.Values) error {
			if err := confirmed(in, v.Concerns); err != nil {
				return err
			}
			done, err := p.addon.Settings.Rollback(r.Context(), r.Actor, v.Number, in.Get("note"))
			if err != nil {
				return err
			}
			if done.Nothing {
				return p.frame.Warn(w, r, versionPath(v.Number), "Nothing was changed: these values are already published.")
			}
			return p.frame.Redirect(w, r, versionPath(done.Version.Number), fmt.Sprintf("Version %d is published, with the values of version %d.", done.Version.Number, v.Number))
		},
		Again: func(in url.Values, wrong frame.Errors) (frame.Page, error) {
			return p.restorePage(v, in.Get("note"), wrong), nil
		},
	})
}

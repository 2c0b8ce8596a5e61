package pages

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

// discardPath leads to the page that asks before the draft's change of a key is discarded,
// or the whole draft for "".
func (f form) discardPath(key string) string {
	path := f.path + "/discard"
	if key != "" {
		path += "?key=" + url.QueryEscape(key)
	}
	return path
}

// discard asks before the draft, or its change of the key in the query, is discarded.
func (p *Pages) discard(f form) frame.Handler {
	return func(w http.ResponseWriter, r *frame.Request) error {
		if _, err := r.PostValues(); err != nil {
			return err
		}
		key := r.URL.Query().Get("key")
		saved, err := p.addon.Settings.Draft(r.Context(), r.Actor)
		if err != nil {
			return err
		}
		list := slices.DeleteFunc(saved.Changes, func(c settings.Change) bool { return key != "" && c.Key != key })
		if len(list) == 0 {
			return p.frame.Warn(w, r, f.path, "Nothing to discard: these values are already published.")
		}
		c := f.confirmDiscard(list, key, saved.Revision)
		c.Form.Do = func(in url.Values) error { return p.discardDraft(w, r, f, in, key) }
		return p.frame.Ask(w, r, c)
	}
}

// confirmDiscard is the page that shows what would be discarded. Its form names the draft
// that it shows, so that no later change is lost with it.
func (f form) confirmDiscard(list []settings.Change, key string, revision int64) frame.Confirm {
	c := frame.Confirm{
		Title: "Discard the draft", Crumbs: crumbs(f.crumb()), Path: f.discardPath(key), Label: "Discard draft", Cancel: f.path,
		Consequence: frame.Count(len(list), "change") + " of the draft, in app settings and in-app purchases, " + isOrAre(len(list)) + " lost. Apps keep the published values.",
		Details:     discardedView(diffOf(reversed(list))), Fields: []frame.Field{revisionField(revision)}, Failed: "Nothing was discarded.",
	}
	if key != "" {
		c.Title, c.Label = "Discard the change of "+key, "Discard change"
		c.Consequence = "The published value of " + key + " replaces the one in the draft. Other changes stay in the draft."
	}
	return c
}

// reversed is changes as undoing them would be.
func reversed(changes []settings.Change) []settings.Change {
	back := slices.Clone(changes)
	for i, c := range changes {
		back[i].Before, back[i].After, back[i].Added, back[i].Removed = c.After, c.Before, c.Removed, c.Added
	}
	return back
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func (p *Pages) discardDraft(w http.ResponseWriter, r *frame.Request, f form, in url.Values, key string) error {
	seen, err := revision(in)
	if err != nil {
		return err
	}
	_, gone, err := p.addon.Settings.Discard(r.Context(), r.Actor, settings.Edit{Revision: seen}, key)
	if fault.HasKind(err, countersign.KindPrecondition) {
		in.Del("revision") // the page that is shown again is of the draft as it is now
	}
	if err != nil {
		return err
	}
	return p.frame.Redirect(w, r, f.path, frame.Count(len(gone), "change")+" discarded. Nothing changed for apps.")
}

// changeRows is the table of what the draft changes.
func (d draft) changeRows() (rows []frame.Row) {
	for _, c := range d.saved.Changes {
		link := frame.LinkButton{Link: frame.Link{Label: "Discard", Path: d.discardPath(c.Key)}, Kind: frame.Danger, Context: "the change of " + c.Key}
		rows = append(rows, frame.Row{changeName(c), link})
	}
	return rows
}

package pages

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/validation"
)

// itemFormID is the id of the form that the preview follows.
const itemFormID = "item"

// markRequired marks the required fields of a form in which most are not.
const markRequired = "required"

// itemForm is what the form of an item shows.
type itemForm struct {
	ws store.WorkspaceRole
	// saved is the item as it is saved; its id is 0 for a new one.
	saved store.Item
	// entered is the item that stands in the form, as far as it can be read.
	entered store.Item
	// in is the form as it was posted, nil before.
	in       url.Values
	revision string
	errs     frame.Errors
	conflict *frame.Conflict
	preview  string
}

func (f itemForm) isNew() bool { return f.saved.ID == 0 }

func (f itemForm) path() string {
	if f.isNew() {
		return itemsPath(f.ws, "/new")
	}
	return itemPath(f.ws, f.saved.ID, "/edit")
}

// back is where the form leads without being saved.
func (f itemForm) back() string {
	if f.isNew() {
		return itemsPath(f.ws, "")
	}
	return itemPath(f.ws, f.saved.ID, "")
}

// shown is a field with what stands in it.
func (f itemForm) shown(of itemField) frame.Field {
	field := of.Field
	field.Key, field.Value, field.Error = of.Name, of.of(f.saved), f.errs.Of(of.Name)
	if f.in != nil {
		field.Value = f.in.Get(of.Name)
	}
	if field.Required {
		field.Mark = markRequired
	}
	field.Focus = f.isNew() && f.in == nil && of.Name == "name"
	return field
}

// itemPage completes the page, with the preview of what stands in the form.
func (p *Pages) itemPage(r *frame.Request, f itemForm) (frame.Page, error) {
	var err error
	f.preview, err = p.itemAnswer(r, f.entered)
	page := frame.Page{Title: "New item", Crumbs: itemsCrumbs(f.ws), Body: itemFormView(f), Scripts: []string{frame.PreviewScript}}
	if !f.isNew() {
		page.Title, page.Crumbs = "Edit the item", itemCrumbs(f.ws, f.saved)
	}
	return page, err
}

// itemAnswer is what the API answers for an item.
func (p *Pages) itemAnswer(r *frame.Request, i store.Item) (string, error) {
	body, err := validation.ItemBody(i, p.apiURL(r))
	return frame.Indented(body), err
}

func (p *Pages) showNewItem(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	f, err := p.newItem(r, ws)
	if err != nil {
		return err
	}
	page, err := p.itemPage(r, f)
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, page)
}

// newItem is the form of a new item, for those who may make one.
func (p *Pages) newItem(r *frame.Request, ws store.WorkspaceRole) (itemForm, error) {
	i := p.store.NewItem(ws.Workspace)
	return itemForm{ws: ws, saved: i, entered: i}, p.store.MayManage(r.Context(), r.Actor, ws.Account.Username)
}

func (p *Pages) createItem(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	f, err := p.newItem(r, ws)
	if err != nil {
		return err
	}
	return p.submitItem(w, r, f, func(in url.Values) error {
		made, err := p.store.CreateItem(r.Context(), r.Actor, ws.Account.Username, func(i *store.Item) (err error) {
			*i, _ = typedItem(*i, in)
			i.ID, err = typedID(in)
			return err
		})
		if err != nil {
			return err
		}
		return p.frame.Redirect(w, r, itemPath(ws, made.ID, ""), "The item is saved, and the API answers with it.")
	})
}

// typedID is the id that was chosen for a new item, 0 for the next one.
func typedID(in url.Values) (int64, error) {
	text := typedText(in, "id")
	if text == "" {
		return 0, nil
	}
	id := idOf(text)
	if id == 0 {
		return 0, wrongField("id", "Type a whole number above 0, or leave the field empty for the next id.")
	}
	return id, nil
}

func (p *Pages) showItemForm(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, i store.Item) error {
	page, err := p.itemPage(r, itemForm{ws: ws, saved: i, entered: i, revision: store.ItemRevision(i)})
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, page)
}

func (p *Pages) saveItem(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, i store.Item) error {
	return p.submitItem(w, r, itemForm{ws: ws, saved: i}, func(in url.Values) error {
		_, err := p.store.EditItem(r.Context(), r.Actor, i.ID, in.Get("revision"), func(i *store.Item, _ string) error {
			*i, _ = typedItem(*i, in)
			return nil
		})
		if err != nil {
			return err
		}
		return p.frame.Redirect(w, r, itemPath(ws, i.ID, ""), "Saved. The API answers with the new values.")
	})
}

// submitItem answers a posted form. Its button Preview only shows the page with what was typed.
func (p *Pages) submitItem(w http.ResponseWriter, r *frame.Request, f itemForm, save func(in url.Values) error) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	f.in, f.revision = in, in.Get("revision")
	var wrong frame.Errors
	f.entered, wrong = typedItem(f.saved, in)
	if in.Get("do") == "preview" {
		page, err := p.itemPage(r, f)
		if err != nil {
			return err
		}
		return p.frame.Show(w, r, page)
	}
	return p.frame.Submit(w, r, frame.Form{
		Check:   func(url.Values) frame.Errors { return f.check(wrong) },
		Rules:   []frame.Rule{f.rule},
		Fields:  itemFieldNames(),
		Do:      save,
		Explain: func(refused error) (frame.Errors, bool) { return p.explainItem(r, &f, refused) },
		Again: func(_ url.Values, wrong frame.Errors) (frame.Page, error) {
			f.errs = wrong
			return p.itemPage(r, f)
		},
	})
}

// check finds what is wrong with a posted form. Without a revision it is not a whole form of ours.
func (f *itemForm) check(wrong frame.Errors) frame.Errors {
	if f.isNew() || f.revision != "" {
		return wrong
	}
	f.revision, f.in, f.entered = store.ItemRevision(f.saved), nil, f.saved
	return frame.Errors{{Text: "The form arrived incomplete. Check it below and save it again."}}
}

// rule finds what is wrong with the item that stands in the form.
func (f *itemForm) rule(in url.Values) error {
	to := f.entered
	var wrongID error
	if f.isNew() {
		to.ID, wrongID = typedID(in)
	}
	return fault.All(wrongID, store.CheckItem(f.saved, to))
}

// explainItem says at the fields what is wrong. Where somebody else saved first, the page has both versions.
func (p *Pages) explainItem(r *frame.Request, f *itemForm, refused error) (frame.Errors, bool) {
	switch {
	case fault.HasKind(refused, countersign.KindPrecondition):
		now, err := p.store.ShowItem(r.Context(), r.Actor, f.saved.ID)
		if err != nil {
			return nil, false
		}
		f.saved = now
		log := p.store.WorkspaceAudit(f.ws.Account.Username)
		f.setConflict(frame.LastActOn(r, log, "item.edit", strconv.FormatInt(now.ID, 10)))
		return nil, true
	case fault.HasCode(refused, "item_exists"):
		refused = wrongField("id", fault.Message(refused))
	}
	return frame.FormErrors(refused)
}

// setConflict puts what somebody else saved beside what was typed. Sent again, the form replaces it.
func (f *itemForm) setConflict(first string) {
	f.revision = store.ItemRevision(f.saved)
	f.conflict = &frame.Conflict{Title: frame.ConflictTitle, First: first, Choices: itemChoices(*f), Text: frame.ConflictText}
	f.entered, _ = typedItem(f.saved, f.in)
	for _, one := range itemFields() {
		if was, is := asTyped(one.of(f.saved)), typedText(f.in, one.Name); was != is {
			f.conflict.Versions = append(f.conflict.Versions, frame.Change{Key: one.Name, Label: one.Label, Before: was, After: is})
		}
	}
	if len(f.conflict.Versions) == 0 {
		f.conflict.Text = frame.ConflictSame
	}
}

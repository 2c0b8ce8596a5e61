package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/snippet"
)

// keysPath is the address of the API access of a workspace, and of pages below it.
func keysPath(ws store.WorkspaceRole, below string) string {
	return workspacePath(ws.Account.Username, "/settings/api"+below)
}

func keyPath(ws store.WorkspaceRole, k store.Key, below string) string {
	return keysPath(ws, "/"+strconv.FormatInt(k.ID, 10)+below)
}

func keysCrumbs(ws store.WorkspaceRole) []frame.Link {
	return []frame.Link{workspaceCrumb(ws), {Label: "API access", Path: keysPath(ws, "")}}
}

func keyCrumbs(ws store.WorkspaceRole, k store.Key) []frame.Link {
	return append(keysCrumbs(ws), frame.Link{Label: k.Name, Path: keyPath(ws, k, "")})
}

func (p *Pages) showKeys(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	page, err := p.keysPage(w, r, ws, switchesOf(ws))
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, page)
}

func (p *Pages) keysPage(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, f switchesForm) (frame.Page, error) {
	keys, err := p.store.Keys(r.Context(), r.Actor, ws.Account.Username)
	if err != nil {
		return frame.Page{}, err
	}
	page := frame.Page{
		Title: "API access", Crumbs: keysCrumbs(ws)[:1], Body: keysView(ws, p.keyRows(ws, keys), p.frame.Address(w, r, "/api"), f),
		Lead: "Programs send an API key with every call. Keep secret keys on servers, never in apps, pages or repositories.",
	}
	if isOwner(ws) {
		page.Action = frame.LinkButton{Link: frame.Link{Label: "New key", Path: keysPath(ws, "/new"), Icon: "plus"}, Kind: frame.Primary}
	}
	return page, nil
}

func (p *Pages) keyRows(ws store.WorkspaceRole, keys []store.Key) []frame.Row {
	rows := make([]frame.Row, len(keys))
	for i, k := range keys {
		rows[i] = frame.Row{
			frame.Link{Label: k.Name, Path: keyPath(ws, k, "")}, frame.Words(keyClass(k)), frame.Mono(k.Hint), p.keyState(k), keyUse(k), keyExpiry(k),
			frame.LinkButton{Link: frame.Link{Label: "Manage", Path: keyPath(ws, k, "")}, Context: k.Name},
		}
	}
	return rows
}

func keyClass(k store.Key) string {
	if k.Class == store.ClassPublishable {
		return "Publishable, item " + strconv.FormatInt(k.ItemID, 10)
	}
	return "Secret"
}

func (p *Pages) keyState(k store.Key) frame.Badge {
	switch store.KeyStateAt(k, p.frame.Now()) {
	case store.KeyRevoked:
		return frame.Badge{Text: "Revoked", Kind: frame.Warning}
	case store.KeyExpired:
		return frame.Badge{Text: "Expired", Kind: frame.Warning}
	}
	return frame.Badge{Text: "Active", Kind: frame.Good}
}

func keyUse(k store.Key) templ.Component {
	if k.LastUsedAt.IsZero() {
		return frame.Muted("never")
	}
	return frame.Stack(frame.Time(k.LastUsedAt.Time), frame.Muted("from "+k.LastUsedFrom))
}

func keyExpiry(k store.Key) templ.Component {
	if k.ExpiresAt.IsZero() {
		return frame.Muted("never")
	}
	return frame.Time(k.ExpiresAt.Time)
}

// onKey serves what the address names: a key of the workspace.
func (p *Pages) onKey(h func(http.ResponseWriter, *frame.Request, store.WorkspaceRole, store.Key) error) http.Handler {
	return p.inWorkspace(func(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
		id, err := strconv.ParseInt(r.PathValue("key"), 10, 64)
		if err != nil {
			return p.frame.NotFound(w, r)
		}
		k, err := p.store.Key(r.Context(), r.Actor, id)
		if err != nil {
			return err
		}
		return h(w, r, ws, k)
	})
}

// onOwnKey is onKey for owners of the workspace.
func (p *Pages) onOwnKey(h func(http.ResponseWriter, *frame.Request, store.WorkspaceRole, store.Key) error) http.Handler {
	return p.onKey(func(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, k store.Key) error {
		if err := p.store.MayOwn(r.Context(), r.Actor, ws.Account.Username); err != nil {
			return err
		}
		return h(w, r, ws, k)
	})
}

func (p *Pages) showKey(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, k store.Key) error {
	recent, err := p.callersOf(r, k)
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, frame.Page{Title: k.Name, Crumbs: keysCrumbs(ws), Body: p.keyView(ws, k, recent)})
}

// restorable reports whether a revoked key can be brought back.
func (p *Pages) restorable(k store.Key) bool {
	return !k.RevokedAt.IsZero() && p.frame.Now().Before(k.RevokedAt.Add(store.UndoRevoke))
}

// keyForm is what the form of a new key holds.
type keyForm struct {
	in    url.Values
	errs  frame.Errors
	items itemNames
}

// The ends of a new key that the form offers, in days.
var keyLives = []frame.Choice{
	{Value: "", Label: "Never"}, {Value: "30", Label: "In 30 days"}, {Value: "90", Label: "In 90 days"},
	{Value: "365", Label: "In a year"}, {Value: "date", Label: "On a date"},
}

var keyClasses = []frame.Choice{
	{Value: string(store.ClassSecret), Label: "Secret: all endpoints, for servers"},
	{Value: string(store.ClassPublishable), Label: "Publishable: validates purchases of one item, may be shipped in a product"},
}

func (p *Pages) newKeyPage(r *frame.Request, ws store.WorkspaceRole, f keyForm) (page frame.Page, err error) {
	f.items, err = p.itemNames(r, ws)
	return frame.Page{Title: "New key", Crumbs: keysCrumbs(ws), Body: newKeyView(ws, f)}, err
}

func (p *Pages) showNewKey(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	if err := p.store.MayOwn(r.Context(), r.Actor, ws.Account.Username); err != nil {
		return err
	}
	page, err := p.newKeyPage(r, ws, keyForm{})
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, page)
}

// createKey shows the new value in its response: it is in no session and at no address.
// Loading the page again creates nothing, because the name is used.
func (p *Pages) createKey(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	return p.frame.Submit(w, r, frame.Form{
		Check:  frame.Required("name", "Type a name, to tell this key from others."),
		Fields: []string{"name", "class", "item", "expires", "date"},
		About:  map[string]string{"key_exists": "name", "item_not_found": "item"},
		Again: func(in url.Values, wrong frame.Errors) (frame.Page, error) {
			return p.newKeyPage(r, ws, keyForm{in: in, errs: wrong})
		},
		Rules: []frame.Rule{func(in url.Values) error {
			_, err := p.readNewKey(ws, in)
			return err
		}},
		Do: func(in url.Values) error {
			n, err := p.readNewKey(ws, in)
			if err != nil {
				return err
			}
			k, value, err := p.store.CreateKey(r.Context(), r.Actor, n)
			if fault.HasCode(err, "key_exists") { // as after loading the page again
				return fault.WithMessage(fault.Of(err), frame.Sentence(fault.Message(err))+" If you have just created it, you can reveal it in the list.")
			}
			if err != nil {
				return err
			}
			return p.showKeyValue(w, r, ws, k, value, "Your new key", "It works from now on.")
		},
	})
}

// readNewKey reads the form of a new key. Without a class it is a secret one. The error is about all fields that are wrong.
func (p *Pages) readNewKey(ws store.WorkspaceRole, in url.Values) (store.NewKey, error) {
	n := store.NewKey{Workspace: ws.Account.Username, Name: strings.TrimSpace(in.Get("name")), Class: store.ClassSecret}
	wrong := map[string]string{}
	switch in.Get("class") {
	case "", string(store.ClassSecret):
	case string(store.ClassPublishable):
		n.Class = store.ClassPublishable
		if n.Item = idOf(strings.TrimSpace(in.Get("item"))); n.Item == 0 {
			wrong["item"] = "Choose the item for which the key is valid."
		}
	default:
		wrong["class"] = "Choose secret or publishable."
	}
	var err error
	n.ExpiresAt, err = readExpiry(in, p.frame.Now())
	return n, fault.All(n.Check(), wrongFields(wrong), err)
}

// readExpiry reads when a key ends; the zero time is never.
func readExpiry(in url.Values, now time.Time) (countersign.Timestamp, error) {
	switch choice := in.Get("expires"); choice {
	case "", "never":
		return countersign.Timestamp{}, nil
	case "date":
		at, err := time.Parse(time.DateOnly, strings.TrimSpace(in.Get("date")))
		if err != nil {
			return countersign.Timestamp{}, wrongField("date", "Type the date as year, month and day, for example 2027-01-31.")
		}
		if !now.Before(at) {
			return countersign.Timestamp{}, wrongField("date", "This date has passed. Choose a later one.")
		}
		return countersign.At(at), nil
	default:
		days, err := strconv.Atoi(choice)
		if err != nil || days < 1 || days > 3650 {
			return countersign.Timestamp{}, wrongField("expires", "Choose when the key expires.")
		}
		return countersign.At(now.AddDate(0, 0, days)), nil
	}
}

// wrongFields is what is wrong with fields of a form, nil for none.
func wrongFields(wrong map[string]string) error {
	if len(wrong) == 0 {
		return nil
	}
	return fault.WithFields(fault.Invalid(fault.CodeInvalid, "Some fields are wrong"), wrong)
}

// wrongField is what is wrong with one field of a form.
func wrongField(name, text string) error {
	return fault.WithFields(fault.Invalid(fault.CodeInvalid, text), map[string]string{name: text})
}

// showKeyValue is the page with the value of a key itself.
func (p *Pages) showKeyValue(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, k store.Key, value, title, lead string) error {
	w.Header().Set("Cache-Control", "no-store")
	first := endpoints[0]
	code, err := p.sampleCode(r, ws, k)
	if err != nil {
		return err
	}
	curl, err := snippet.Languages()[0].Write(first.call(p.frame.Address(w, r, first.path), code))
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, frame.Page{
		Title: title, Lead: lead, Crumbs: keyCrumbs(ws, k), Body: keyValueView(ws, k, value, curl),
	})
}

// sampleCode is the code of the newest purchase that a key finds, CODE without one.
func (p *Pages) sampleCode(r *frame.Request, ws store.WorkspaceRole, k store.Key) (string, error) {
	filter := store.PurchaseFilter{Limit: 1, State: store.StateActive, Item: k.ItemID}
	sold, err := p.store.ListPurchases(r.Context(), r.Actor, ws.Account.Username, filter, store.PurchasePlace{})
	if err != nil || len(sold.Purchases) == 0 {
		return "CODE", err
	}
	return sold.Purchases[0].Code, nil
}

// keyUses says how much a key is used.
func keyUses(k store.Key) string {
	if k.LastUsedAt.IsZero() {
		return "It has never been used."
	}
	return fmt.Sprintf("It was used in %s, last on %s from %s.", frame.Count(int(k.UsedCount), "call"), frame.Moment(k.LastUsedAt.Time), k.LastUsedFrom)
}

// hasEarlierValue reports whether the value before the last rotation still works.
func (p *Pages) hasEarlierValue(k store.Key) bool {
	return store.KeyStateAt(k, p.frame.Now()) == store.KeyActive && k.Previous != nil && p.frame.Now().Before(k.PreviousExpiresAt.Time)
}

func keyAdvice(k store.Key) string {
	if k.Class == store.ClassPublishable {
		return "It validates purchases of this item and nothing else. You may ship it in the product."
	}
	return "Keep it on a server, never in an app, a page or a repository."
}

func noKeys(ws store.WorkspaceRole) frame.Empty {
	empty := frame.Empty{Icon: "key-round", Title: "No keys yet", Text: "With a key, your server asks this store whether a purchase code is valid."}
	if isOwner(ws) {
		empty.Action = frame.Link{Label: "New key", Path: keysPath(ws, "/new")}
	}
	return empty
}

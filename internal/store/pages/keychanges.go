package pages

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
)

func (p *Pages) revealKey(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, k store.Key) error {
	field := frame.PasswordField(nil)
	field.Focus = true
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Reveal “" + k.Name + "”", Crumbs: keyCrumbs(ws, k),
		Consequence: "The key is shown on the next page. This is recorded in the audit log.",
		Path:        keyPath(ws, k, "/reveal"), Label: "Reveal", Cancel: keyPath(ws, k, ""), Safe: true, Failed: "The key is not shown.", Fields: []frame.Field{field},
		Form: frame.WithPassword(func(password string) error {
			if err := p.store.Instance.People.CheckPassword(r.Context(), r.Actor, password); err != nil {
				return err
			}
			k, value, err := p.store.RevealKey(r.Context(), r.Actor, k.ID)
			if err != nil {
				return err
			}
			return p.showKeyValue(w, r, ws, k, value, "Key “"+k.Name+"”", "Close this page after you have copied it.")
		}),
	})
}

// The overlaps of a rotation that the form offers, in hours.
var overlaps = []frame.Choice{
	{Value: "24", Label: "24 hours"}, {Value: "72", Label: "3 days"}, {Value: "168", Label: "7 days"}, {Value: "720", Label: "30 days"}, {Value: "0", Label: "Not at all: it ends now"},
}

// rotateKey sets a new value and answers with it. The form names the value that it replaces,
// so that loading the page again replaces no newer one.
func (p *Pages) rotateKey(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, k store.Key) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	rotated := func() error {
		return p.frame.Redirect(w, r, keyPath(ws, k, ""), "Nothing was changed: this key was rotated already. To see its value, press Reveal.")
	}
	if r.Method == http.MethodPost && in.Get("replaces") != k.Hint {
		return rotated()
	}
	earlier, err := p.store.EarlierValue(r.Context(), r.Actor, k.ID)
	if err != nil {
		return err
	}
	recent, err := p.callersOf(r, k)
	if err != nil {
		return err
	}
	text := "The key gets a new value. The current one works until the overlap has passed, so that you can update programs one after the other. " + recent.String()
	if !earlier.EndsAt.IsZero() {
		text += " It was rotated before: the value " + earlier.Hint + ", which would work until " + frame.Moment(earlier.EndsAt.Time) + ", ends now."
	}
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Rotate “" + k.Name + "”", Crumbs: keyCrumbs(ws, k), Consequence: text,
		Path: keyPath(ws, k, "/rotate"), Label: "Rotate", Cancel: keyPath(ws, k, ""),
		Fields: []frame.Field{
			{Name: "replaces", Kind: frame.Hidden, Value: k.Hint},
			{Name: "overlap", Label: "The current value works for another", Kind: frame.Select, Value: "24", Choices: overlaps},
		},
		Form: frame.Form{Fields: []string{"overlap"}, Do: func(in url.Values) error {
			hours, err := strconv.Atoi(in.Get("overlap"))
			if err != nil || hours < 0 || hours > 8760 {
				return wrongField("overlap", "Choose how long the current value works.")
			}
			k, value, err := p.store.RotateKey(r.Context(), r.Actor, k.ID, time.Duration(hours)*time.Hour, in.Get("replaces"))
			if fault.HasCode(err, "key_rotated") {
				return rotated()
			}
			if err != nil {
				return err
			}
			lead := "The old value has ended."
			if hours > 0 {
				lead = "The old value works until " + frame.Moment(k.PreviousExpiresAt.Time) + "."
			}
			return p.showKeyValue(w, r, ws, k, value, "New value of “"+k.Name+"”", lead)
		}},
	})
}

// revokeKey asks for the name of the key first: its programs stop working.
func (p *Pages) revokeKey(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, k store.Key) error {
	if r.Method != http.MethodPost && !k.RevokedAt.IsZero() {
		return p.frame.Redirect(w, r, keyPath(ws, k, ""), "This key is revoked already.")
	}
	recent, err := p.callersOf(r, k)
	if err != nil {
		return err
	}
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Revoke “" + k.Name + "”", Crumbs: keyCrumbs(ws, k),
		Consequence: "Programs that use this key are refused from now on. " + recent.String() + " You can undo this for ten minutes.",
		Path:        keyPath(ws, k, "/revoke"), Label: "Revoke", Cancel: keyPath(ws, k, ""),
		Fields: []frame.Field{{Name: "name", Label: "Name of the key", Help: "Type it to confirm.", Example: k.Name, Required: true, Focus: true}},
		Form: frame.Form{Fields: []string{"name"}, Do: func(in url.Values) error {
			if in.Get("name") != k.Name {
				return wrongField("name", "This is not the name of the key. Type: "+k.Name)
			}
			if _, err := p.store.RevokeKey(r.Context(), r.Actor, k.ID); err != nil {
				return err
			}
			return p.frame.Redirect(w, r, keyPath(ws, k, ""), "The key is revoked. You can restore it for ten minutes.")
		}},
	})
}

// restoreKey undoes a revocation. Its button asks nothing first.
func (p *Pages) restoreKey(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, k store.Key) error {
	if _, err := p.store.RestoreKey(r.Context(), r.Actor, k.ID); err != nil {
		return err
	}
	return p.frame.Redirect(w, r, keyPath(ws, k, ""), "The key works again.")
}

// keptExpiry is the choice of a key's expiry that changes nothing.
const keptExpiry = "keep"

// setKeyExpiry changes when a key ends.
func (p *Pages) setKeyExpiry(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, k store.Key) error {
	lives, current := keyLives, ""
	if !k.ExpiresAt.IsZero() {
		current = keptExpiry
		lives = append([]frame.Choice{{Value: current, Label: "As it is: " + k.ExpiresAt.Format("2006-01-02 15:04") + " UTC"}}, keyLives...)
	}
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Expiry of “" + k.Name + "”", Crumbs: keyCrumbs(ws, k),
		Consequence: "When the key expires, programs that use it are refused. " + keyUses(k),
		Path:        keyPath(ws, k, "/expiry"), Label: "Save", Cancel: keyPath(ws, k, ""), Safe: true,
		Fields: []frame.Field{
			{Name: "expires", Label: "Expires", Kind: frame.Select, Value: current, Choices: lives},
			{Name: "date", Label: "Date", Kind: frame.Date, Help: "For “On a date”: the start of that day, UTC."},
		},
		Form: frame.Form{Fields: []string{"expires", "date"}, Do: func(in url.Values) error {
			if in.Get("expires") == keptExpiry {
				return p.frame.Redirect(w, r, keyPath(ws, k, ""), "Nothing was changed.")
			}
			at, err := readExpiry(in, p.frame.Now())
			if err != nil {
				return err
			}
			if _, err := p.store.SetKeyExpiry(r.Context(), r.Actor, k.ID, at); err != nil {
				return err
			}
			text := "The key never expires."
			if !at.IsZero() {
				text = "The key expires on " + frame.Moment(at.Time) + "."
			}
			return p.frame.Redirect(w, r, keyPath(ws, k, ""), text)
		}},
	})
}

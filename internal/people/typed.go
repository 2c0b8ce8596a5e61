package people

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

const (
	// typedLife is how long what was typed waits for its user to sign in again.
	typedLife = 15 * time.Minute
	// maxTyped is how many bytes of it are kept.
	maxTyped    = 64 << 10
	formPurpose = "form"
)

// Form describes a form on the page of a user.
type Form struct {
	// Page is the path and query of the page, and Path where the form is sent to.
	Page, Path string
	// Fields are the names whose values may be kept when the session has ended: none of a
	// password, a key or a file.
	Fields []string
}

// signedForm is a [Form] with the id of its user.
type signedForm struct {
	User int64 `json:"u"`
	Form
}

// SignForm returns the text that a form carries, so that [People.KeepTyped] knows it. It is
// no secret. It returns "" while the key file is not available.
func (p *People) SignForm(u User, f Form) string {
	box := p.box()
	text, err := json.Marshal(signedForm{u.ID, f})
	if box == nil || err != nil {
		return ""
	}
	mac := box.MAC(formPurpose, text)
	return base64.RawURLEncoding.EncodeToString(text) + "." + base64.RawURLEncoding.EncodeToString(mac[:])
}

// FormOf reads a text of [People.SignForm] that was sent to a path.
func (p *People) FormOf(signed, path string) (Form, bool) {
	f, ok := p.formOf(signed, path)
	return f.Form, ok
}

func (p *People) formOf(signed, path string) (f signedForm, ok bool) {
	box := p.box()
	encoded, encodedMAC, _ := strings.Cut(signed, ".")
	text, errText := base64.RawURLEncoding.DecodeString(encoded)
	mac, errMAC := base64.RawURLEncoding.DecodeString(encodedMAC)
	if box == nil || errText != nil || errMAC != nil || !box.ValidMAC(formPurpose, text, mac) {
		return f, false
	}
	err := json.Unmarshal(text, &f)
	return f, err == nil && f.Path == path
}

// Typed is what a user had typed into a form whose session has ended.
type Typed struct {
	Form Form
	// Values has those of the form's fields that were sent.
	Values  map[string][]string
	Expires time.Time
}

// KeepTyped encrypts the values of a form of [People.SignForm] that was sent to a path
// without a session. Only the user of the form gets them back, by [People.OpenTyped] within
// 15 minutes. It returns "" for a form that is not known, without fields, or too large.
func (p *People) KeepTyped(signed, path string, values map[string][]string) string {
	f, ok := p.formOf(signed, path)
	if !ok || len(f.Fields) == 0 {
		return ""
	}
	saved := Typed{Form: f.Form, Values: map[string][]string{}, Expires: p.now().Add(typedLife)}
	for _, name := range f.Fields {
		if sent, there := values[name]; there {
			saved.Values[name] = sent
		}
	}
	text, err := json.Marshal(saved)
	if err != nil || len(text) > maxTyped {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(p.box().Seal(typedPurpose(f.User), text))
}

// OpenTyped returns what [People.KeepTyped] kept for a user, or false for another user's and
// for what has expired.
func (p *People) OpenTyped(u User, saved string) (t Typed, ok bool) {
	box := p.box()
	sealed, err := base64.RawURLEncoding.DecodeString(saved)
	if box == nil || err != nil || saved == "" {
		return t, false
	}
	text, err := box.Open(typedPurpose(u.ID), sealed)
	if err != nil {
		return t, false
	}
	err = json.Unmarshal(text, &t)
	return t, err == nil && p.now().Before(t.Expires)
}

// typedPurpose binds what was typed to its user.
func typedPurpose(user int64) string { return "typed " + strconv.FormatInt(user, 10) }

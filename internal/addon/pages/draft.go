package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

// form is one of the two forms that change the draft.
type form struct {
	area  settings.Area
	title string
	path  string
}

var (
	appForm = form{settings.AreaApp, "App settings", PathAppSettings}
	iapForm = form{settings.AreaIAP, "In-app purchases", pathIAP}
)

func (f form) crumb() frame.Link { return frame.Link{Label: f.title, Path: f.path} }

// draft is the settings of a form as the page shows them: what is saved, and on
// top of it what was typed.
type draft struct {
	form
	saved settings.Draft
	// entered is the values of a form that is shown again, by key; nil shows what
	// is saved. order is the keys in the order of the page.
	entered map[string]string
	order   []string
	errs    frame.Errors
	failed  string
	// secretLooking reports that values were refused because they look like secrets.
	secretLooking bool
	// conflict is what somebody else saved meanwhile, nil when nobody did.
	conflict *editConflict
}

// editConflict is the two versions after somebody else saved first.
type editConflict struct {
	// first says who saved and when; "" when that is not known.
	first    string
	versions []frame.Change
}

// own is how the fields of an owner's own keys begin, so that no key can be taken
// for another field.
const own = "own."

// name is the name of a setting's field.
func name(s settings.Setting) string {
	if s.Own {
		return own + s.Key
	}
	return s.Key
}

// value is what stands in a setting's field.
func (d draft) value(s settings.Setting) string {
	if entered, there := d.entered[s.Key]; there {
		return entered
	}
	return s.Value
}

// fieldOf draws the question of one setting.
func (d draft) fieldOf(s settings.Setting) frame.Field {
	f := frame.Field{
		Name: name(s), Label: s.Label, Key: s.Key, Help: s.Help, Where: s.Where, Value: d.value(s), Error: d.errs.Of(name(s)), Mark: mark(s),
	}
	switch s.Type {
	case settings.TypeBool, settings.TypeFlag:
		f.Kind, f.On = frame.Switch, f.Value == "true" || f.Value == "1"
	case settings.TypeChoice:
		f.Kind, f.Choices = frame.Select, choicesOf(s)
	case settings.TypeText:
		f.Example, f.Code = s.Example, s.Key != settings.KeyAppName
	}
	if s.Own {
		f.Label, f.Key, f.Help, f.Code = s.Key, "", kindWord(s.Type), false
		if s.Type == settings.TypeText && (len(f.Value) > 60 || strings.Contains(f.Value, "\n")) {
			f.Kind, f.Rows = frame.TextArea, 4
		}
	}
	return f
}

// choicesOf are the values that a setting can have.
func choicesOf(s settings.Setting) []frame.Choice {
	list := make([]frame.Choice, len(s.Choices))
	for i, c := range s.Choices {
		list[i] = frame.Choice{Value: c.Value, Label: c.Label}
	}
	return list
}

// mark returns a word for what is special about a value.
func mark(s settings.Setting) string {
	switch {
	case s.Changed:
		return "not published"
	case s.AtDefault && s.Value != "":
		return "default"
	}
	return ""
}

// kindWord returns what form a value has.
func kindWord(t settings.Type) string {
	switch t {
	case settings.TypeBool:
		return "On or off."
	case settings.TypeNumber:
		return "A number."
	}
	return "Text."
}

// group is settings that stand under one heading.
type group struct {
	title    string
	settings []settings.Setting
}

// groups are the form's settings that the addon defines, in their order.
func (d draft) groups() (list []group) {
	for _, s := range d.saved.List {
		if s.Area != d.area || s.Own {
			continue
		}
		if n := len(list); n == 0 || list[n-1].title != s.Group {
			list = append(list, group{title: s.Group})
		}
		last := &list[len(list)-1]
		last.settings = append(last.settings, s)
	}
	return list
}

// owns are the keys that the owner added.
func (d draft) owns() (list []settings.Setting) {
	for _, s := range d.saved.List {
		if s.Own {
			list = append(list, s)
		}
	}
	return list
}

// readDraft reads the settings for one of the forms.
func (p *Pages) readDraft(r *frame.Request, f form) (draft, error) {
	saved, err := p.addon.Settings.Draft(r.Context(), r.Actor)
	return draft{form: f, saved: saved}, err
}

// take puts what was posted on top of what is saved: the settings with these keys, in
// the order of the page, or all of the form.
func (d *draft) take(in url.Values, keys ...string) {
	d.entered, d.order = map[string]string{}, nil
	for _, s := range d.saved.List {
		if s.Area == d.area && (len(keys) == 0 || slices.Contains(keys, s.Key)) {
			d.takeOne(in, s)
			d.order = append(d.order, s.Key)
		}
	}
}

func (d *draft) takeOne(in url.Values, s settings.Setting) {
	switch s.Type {
	case settings.TypeBool, settings.TypeFlag:
		d.entered[s.Key] = strconv.FormatBool(in.Get(name(s)) == "1")
	default:
		if in.Has(name(s)) {
			d.entered[s.Key] = strings.ReplaceAll(in.Get(name(s)), "\r\n", "\n")
		}
	}
}

// revision reads which state of the draft the form was made from. Without one
// the form is not a whole form of ours.
func revision(in url.Values) (int64, error) {
	n, err := strconv.ParseInt(in.Get("revision"), 10, 64)
	if err != nil || n <= 0 {
		return 0, fault.Invalid("form_incomplete", "The form arrived incomplete, so nothing was saved. Check it below and save it again")
	}
	return n, nil
}

// allowSecrets is the name of the switch that overrules a false alarm.
const allowSecrets = "allowSecretLooking"

// editOf is how a form changes the draft that it has seen.
func editOf(in url.Values, seen int64) settings.Edit {
	return settings.Edit{Revision: seen, AllowSecretLooking: in.Get(allowSecrets) == "1"}
}

// revisionField remembers which state of the draft the page showed.
func revisionField(revision int64) frame.Field {
	return frame.Field{Name: "revision", Kind: frame.Hidden, Value: strconv.FormatInt(revision, 10)}
}

// set saves what was posted, which take puts on top of what is saved.
func (p *Pages) set(r *frame.Request, d *draft, in url.Values, take func()) error {
	return p.change(r, d, in, take, func(edit settings.Edit) (settings.Draft, error) {
		return p.addon.Settings.Set(r.Context(), r.Actor, edit, d.entered)
	})
}

// change reads what was posted, and saves it. The draft is then what is saved, or after an error the one to show again.
func (p *Pages) change(r *frame.Request, d *draft, in url.Values, take func(), save func(settings.Edit) (settings.Draft, error)) (err error) {
	if d.saved, err = p.addon.Settings.Draft(r.Context(), r.Actor); err != nil {
		return err
	}
	take()
	seen, err := revision(in)
	if err == nil {
		d.saved, err = save(editOf(in, seen))
	}
	return err
}

// explainDraft says at the fields of a form why its draft was not saved. Where
// somebody else saved first, the draft has both versions.
func (p *Pages) explainDraft(r *frame.Request, d *draft) func(refused error) (frame.Errors, bool) {
	return func(refused error) (frame.Errors, bool) {
		if d.saved.Revision == 0 {
			return nil, false
		}
		if fault.HasKind(refused, countersign.KindPrecondition) && d.failed == "" {
			d.setConflict(p.lastChange(r))
			return nil, true
		}
		d.secretLooking = fault.HasCode(refused, settings.CodeSecretLooking)
		errs, explained := frame.FormErrors(refused, d.order...)
		for i, one := range errs {
			if s, there := d.saved.Get(one.Name); there {
				errs[i].Name = name(s)
			}
		}
		return errs, explained
	}
}

// setConflict puts what somebody else saved beside what was typed.
func (d *draft) setConflict(first string) {
	d.conflict = &editConflict{first: first}
	for _, s := range d.saved.List {
		entered, there := d.entered[s.Key]
		if there && !same(s, entered) {
			d.conflict.versions = append(d.conflict.versions, frame.Change{
				Key: s.Key, Label: labelOf(s.Key, s.Label), Before: worded(s.Type, s.Value), After: worded(s.Type, entered),
			})
		}
	}
}

// same reports whether a typed value is the one that is saved.
func same(s settings.Setting, entered string) bool {
	switch s.Type {
	case settings.TypeFlag:
		return (s.Value == "1") == (entered == "true")
	case settings.TypeProducts:
		mine, err := iap.ParseProducts(entered)
		saved, _ := iap.ParseProducts(s.Value) // what is saved was checked
		return err == nil && slices.Equal(mine, saved)
	}
	return strings.TrimSpace(entered) == s.Value
}

// saidSaved is what the page says after the draft was saved.
func saidSaved(s settings.Draft) string {
	if len(s.Changes) == 0 {
		return "Saved. These values are already published."
	}
	return "The draft is saved. Apps receive it when you publish: " + frame.Count(len(s.Changes), "change") + " not published."
}

// saved leads on from a draft that was saved, to where the pressed button says.
func (p *Pages) saved(w http.ResponseWriter, r *frame.Request, d draft, button string) error {
	switch button {
	case "publish":
		return p.frame.Redirect(w, r, d.path+"/publish", "")
	case "preview":
		return p.frame.Redirect(w, r, pathPreview, saidSaved(d.saved))
	}
	return p.frame.Redirect(w, r, d.path, saidSaved(d.saved))
}

// blockingErrors marks the fields of this form that stand in the way of a publish, and
// reports whether there are any.
func (d *draft) blockingErrors() bool {
	d.errs = nil
	for _, one := range d.saved.Problems {
		s, there := d.saved.Get(one.Key)
		if one.Severity == settings.SeverityError && there && s.Area == d.area {
			d.errs = append(d.errs, frame.FieldError{Name: name(s), Text: frame.Sentence(one.Text)})
		}
	}
	d.failed = "Saved as a draft. Correct these problems before you publish."
	return len(d.errs) > 0
}

// lastChange says who changed the draft last and when, "" when that is not known.
func (p *Pages) lastChange(r *frame.Request) string {
	return frame.LastAct(r, p.addon.Instance.Audit, "settings")
}

package frame_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/webtest"
)

const formPath, sentPath = "/admin/form?of=rain", "/admin/sent"

// exampleForm shows a form with every kind of field, and shows it again when it was sent.
func (s *site) exampleForm(w http.ResponseWriter, r *frame.Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	if in.Has("_form") {
		return io.ErrUnexpectedEOF // it is no handler's business
	}
	fields := []templ.Component{
		frame.Field{Name: "revision", Kind: frame.Hidden, Value: r.Header.Get("X-Revision") + "7"},
		frame.Field{Name: "name", Label: "Name", Value: "Rain"},
		frame.Field{Name: "notes", Label: "Notes", Kind: frame.TextArea, Value: "None"},
		frame.Field{Name: "on", Label: "On", Kind: frame.Switch, On: true},
		frame.Field{Name: "off", Label: "Off", Kind: frame.Switch},
		frame.Field{Name: "kind", Label: "Kind", Kind: frame.Select, Value: "a", Choices: []frame.Choice{{Value: "a", Label: "A"}, {Value: "b", Label: "B"}}},
		frame.Field{Name: "fixed", Label: "Fixed", Value: "stays", ReadOnly: true},
		frame.Field{Name: "json", Label: "File", Kind: frame.TextArea, Secret: true},
		frame.PasswordField(nil),
		frame.Field{Name: "file", Label: "File", Kind: frame.File},
	}
	body := templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		form := frame.FormOf(frame.FormView{Path: sentPath, Errors: frame.Errors{{Name: "name", Text: "Too short."}}})
		return form.Render(templ.WithChildren(ctx, templ.Join(fields...)), w)
	})
	page := frame.Page{Title: "Form", Body: templ.Join(body, frame.Button{Label: "Only a button", Path: "/admin"})}
	if r.Method == http.MethodPost {
		return s.frame.Refuse(w, r, page, nil)
	}
	return s.frame.Show(w, r, page)
}

// typed is the form as somebody has filled it in.
func typed(p *webtest.Page) url.Values {
	form := p.Form(sentPath)
	for name, value := range map[string]string{"name": "Thunder <b>", "notes": "Many\nlines", "off": "1", "kind": "b", "fixed": "moved", "json": "the service account", "password": password} {
		form.Set(name, value)
	}
	form.Del("on")
	return form
}

// wantTyped wants the page filled in with what [typed] has, without its secrets.
func wantTyped(t *testing.T, p *webtest.Page) {
	t.Helper()
	p.Status(http.StatusOK).Says("Nothing was saved yet.").SilentAbout("the service account", password)
	form := p.Form(sentPath)
	form.Del("_form")
	want := url.Values{
		"revision": {"7"}, "name": {"Thunder <b>"}, "notes": {"Many\nlines"}, "off": {"1"}, "kind": {"b"}, "fixed": {"stays"}, "json": {""}, "password": {""},
	}
	expect.Equalf(t, form.Encode(), want.Encode(), "the form")
}

// refused sends a form whose session has ended, and returns the sign-in page's form.
func (s *site) refused(b *webtest.Browser, form url.Values) url.Values {
	s.clock.Move(13 * time.Hour)
	p := b.PostForm(sentPath, form).Status(http.StatusUnprocessableEntity).Says("You are not signed in.", "Nothing was saved: you are no longer signed in.", "what you typed")
	p.SilentAbout("Thunder", "the service account", password)
	return p.Form("/admincp/login")
}

func TestWhatWasTypedSurvivesASignIn(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.signedIn(t)
		signIn := s.refused(b, typed(b.Get(formPath)))
		signIn.Set("email", email)
		signIn.Set("password", changed) // wrong: it is kept for the next try
		signIn = b.PostForm("/admincp/login", signIn).Status(http.StatusUnprocessableEntity).Form("/admincp/login")
		signIn.Set("password", password)
		b.PostForm("/admincp/login", signIn).LeadsTo(formPath)
		b.Get("/admin").SilentAbout("Nothing was saved yet.")
		wantTyped(t, b.Get(formPath, "X-Revision", "1")) // which somebody else has made meanwhile
		if again := b.Get(formPath).SilentAbout("Nothing was saved yet.").Form(sentPath); again.Get("name") != "Rain" {
			t.Error("it is filled in twice")
		}
		if content := s.log.String(); strings.Contains(content, "Thunder") {
			t.Error("it is in the log")
		}
	})
}

func TestWhatWasTypedAgainAfterARefusalSurvivesASignIn(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.signedIn(t)
		shownAgain := b.PostForm(sentPath, typed(b.Get(formPath))).Status(http.StatusUnprocessableEntity).Says("Too short.")
		signIn := s.refused(b, typed(shownAgain))
		signIn.Set("email", email)
		signIn.Set("password", password)
		b.PostForm("/admincp/login", signIn).LeadsTo(formPath)
		wantTyped(t, b.Get(formPath))
	})
}

func TestWhatWasTypedSurvivesTwoStepSignIn(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.signedIn(t)
		secret, _ := s.turnOnTOTP(b)
		signIn := s.refused(b, typed(b.Get(formPath)))
		signIn.Set("email", email)
		signIn.Set("password", password)
		b.PostForm("/admincp/login", signIn).LeadsTo("/admincp/2fa")
		b.Get(formPath).LeadsTo("/admincp/login?next=" + url.QueryEscape(formPath)) // not before the code
		b.Post("/admincp/2fa", "code", s.code(t, secret)).LeadsTo(formPath)
		wantTyped(t, b.Get(formPath))
	})
}

func TestWhatWasTypedIsOfOnePersonForAWhile(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		s.another(t, "bob@site.example")
		for rule, sign := range map[string]struct {
			email, password string
			later           time.Duration
		}{
			"somebody else signs in": {"bob@site.example", changed, 0},
			"it has expired":         {email, password, 15 * time.Minute},
		} {
			b := s.signedIn(t)
			signIn := s.refused(b, typed(b.Get(formPath)))
			s.clock.Move(sign.later)
			signIn.Set("email", sign.email)
			signIn.Set("password", sign.password)
			b.PostForm("/admincp/login", signIn).LeadsTo(formPath)
			p := b.Get(formPath).Says("What was typed before this sign-in was not kept").SilentAbout("Thunder")
			expect.Equalf(t, p.Form(sentPath).Get("name"), "Rain", "%s: the form is filled in", rule)
		}
	})
}

func TestFormsOfOthersAreNotKept(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.signedIn(t)
		page := b.Get(formPath)
		form, elsewhere := typed(page), page.Form("/admin").Get("_form")
		s.clock.Move(13 * time.Hour)
		stranger := s.browser(t)
		for rule, signed := range map[string]string{"none": "", "forged": "AAAA.AAAA", "of another path": elsewhere} {
			form.Set("_form", signed)
			p := stranger.PostForm(sentPath, form).Status(http.StatusUnprocessableEntity).Says("Sign in to return to the page.")
			if p.Form("/admincp/login").Has("typed") {
				t.Errorf("a form with the signature %s is kept", rule)
			}
		}
		stranger.Send("POST", sentPath, strings.NewReader(form.Encode()), "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "cross-site").Status(http.StatusForbidden)
		expect.Equalf(t, stranger.Cookie("countersign_session"), "", "a stranger's form begins a session")
	})
}

func TestButtonWithoutASessionLeadsBackToItsPage(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.signedIn(t)
		form := b.Get(formPath).Form("/admin")
		s.clock.Move(13 * time.Hour)
		signIn := b.PostForm("/admin", form).Status(http.StatusUnprocessableEntity).Says("Sign in to return to the page.").Form("/admincp/login")
		signIn.Set("email", email)
		signIn.Set("password", password)
		b.PostForm("/admincp/login", signIn).LeadsTo(formPath)
		b.Get(formPath).SilentAbout("Nothing was saved yet.")
	})
}

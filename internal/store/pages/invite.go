package pages

import (
	"net/http"
	"net/url"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/people"
)

// inviteForm is what the page of an invitation shows.
type inviteForm struct {
	user         people.User // zero: nobody is signed in
	token, email string
	errs         frame.Errors
}

func invitePage(f inviteForm) frame.Page {
	return frame.Page{
		Title: "Join a workspace", Bare: true, Body: inviteView(f), Scripts: []string{"link.js"},
		Lead: "The invitation adds a workspace to your account, or creates the account.",
	}
}

func (p *Pages) showInvite(w http.ResponseWriter, r *frame.Request) error {
	return p.frame.Show(w, r, invitePage(inviteForm{user: r.User}))
}

// acceptInvite makes the user who is signed in a member, or creates one.
func (p *Pages) acceptInvite(w http.ResponseWriter, r *frame.Request) error {
	required := []string{"token", "Paste the invitation link."}
	if r.User.ID == 0 {
		required = append(required, "email", "Type your e-mail.", "password", "Choose a password.")
	}
	return p.frame.Submit(w, r, frame.Form{
		Check:     frame.Required(required...),
		Rules:     p.inviteRules(r),
		NextSteps: fault.NextSteps{}, // not those of the set-up link, whose codes are the same
		Fields:    []string{"token", "email", "password"},
		About:     map[string]string{"link": "token", "email": "email", "password": "password", "member_exists": "token", "invitation_email": emailField(r)},
		Again: func(in url.Values, wrong frame.Errors) (frame.Page, error) {
			f := inviteForm{r.User, frame.TokenOf(in.Get("token")), in.Get("email"), wrong}
			if f.email == "" {
				if o, err := p.store.Offer(r.Context(), f.token); err == nil {
					f.email = o.Email
				}
			}
			return invitePage(f), nil
		},
		Do: func(in url.Values) error {
			token := frame.TokenOf(in.Get("token"))
			if r.User.ID != 0 {
				o, err := p.store.Accept(r.Context(), r.Actor, token)
				if err != nil {
					return err
				}
				return p.frame.Redirect(w, r, workspacePath(o.Username, ""), "You are a member of this workspace now. Your role: "+roleName(o.Role)+".")
			}
			u, o, err := p.store.AcceptAsNew(r.Context(), r.From, token, in.Get("email"), in.Get("password"))
			if err != nil {
				return err
			}
			return p.frame.Welcome(w, r, u, workspacePath(o.Username, ""), "Welcome. You are signed in. Your role: "+roleName(o.Role)+".")
		},
	})
}

// inviteRules find what is wrong with an accepted invitation: with its link, and with a new user.
func (p *Pages) inviteRules(r *frame.Request) []frame.Rule {
	if r.User.ID != 0 {
		return nil
	}
	return []frame.Rule{
		func(in url.Values) error {
			token := frame.TokenOf(in.Get("token"))
			if token == "" {
				return nil
			}
			_, err := p.store.OfferFor(r.Context(), token, in.Get("email"))
			return err
		},
		func(in url.Values) error { return people.CheckNew(in.Get("email"), in.Get("password")) },
	}
}

// emailField is the field that a wrong e-mail is about: somebody who is signed in types none.
func emailField(r *frame.Request) string {
	if r.User.ID != 0 {
		return "token"
	}
	return "email"
}

package frame

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/countersign/countersign/internal/people"
)

// onUser serves what the address names: the user with an id.
func (f *Frame) onUser(h func(http.ResponseWriter, *Request, people.User) error) Handler {
	return func(w http.ResponseWriter, r *Request) error {
		id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
		if err != nil {
			return f.NotFound(w, r)
		}
		u, err := f.People.UserByID(r.Context(), r.Actor, id)
		if err != nil {
			return err
		}
		return h(w, r, u)
	}
}

// userView is what the page of one administrator shows.
type userView struct {
	people.User
	// last reports that the user may not be taken away.
	last bool
	// email is what was typed as the new one.
	email string
	errs  Errors
}

func (f *Frame) showUser(w http.ResponseWriter, r *Request, u people.User) error {
	page, err := f.userPage(r, userView{User: u, email: u.Email})
	if err != nil {
		return err
	}
	return f.Show(w, r, page)
}

func (f *Frame) userPage(r *Request, v userView) (Page, error) {
	var err error
	v.last, err = f.People.LastAdministrator(r.Context(), r.Actor, v.User)
	return Page{Title: v.Email, Crumbs: []Link{f.usersCrumb()}, Body: oneUserView(f, v)}, err
}

func (f *Frame) renameUser(w http.ResponseWriter, r *Request, u people.User) error {
	return f.Submit(w, r, Form{
		Check:  Required("email", "Type the new e-mail.", "password", "Type your password."),
		Rules:  []Rule{emailRule, f.PasswordRule(r)},
		Fields: []string{"email", "password"},
		About:  map[string]string{"email": "email", "password": "password"},
		Again: func(in url.Values, wrong Errors) (Page, error) {
			return f.userPage(r, userView{User: u, email: in.Get("email"), errs: wrong})
		},
		Do: func(in url.Values) error {
			renamed, err := f.People.RenameUser(r.Context(), r.Actor, u.ID, in.Get("email"))
			if err != nil {
				return err
			}
			return f.Redirect(w, r, f.userPath(u), "Sign-in is now with the e-mail "+renamed.Email+".")
		},
	})
}

// askAbout asks for the password before a change of an administrator.
func (f *Frame) askAbout(w http.ResponseWriter, r *Request, u people.User, c Confirm, do func() error) error {
	c.Crumbs, c.Cancel = []Link{f.usersCrumb(), {Label: u.Email, Path: f.userPath(u)}}, f.userPath(u)
	c.Fields = []Field{PasswordField(nil)}
	c.Form = WithPassword(func(password string) error {
		if err := f.People.CheckPassword(r.Context(), r.Actor, password); err != nil {
			return err
		}
		return do()
	})
	return f.Ask(w, r, c)
}

// linkUser makes a new link for somebody who has chosen no password yet.
func (f *Frame) linkUser(w http.ResponseWriter, r *Request, u people.User) error {
	if u.HasPassword {
		return f.Redirect(w, r, f.userPath(u), u.Email+" has a password. For somebody who is locked out, the operator creates a link with: "+f.Command+" user sign-in-link")
	}
	return f.askAbout(w, r, u, Confirm{
		Title: "New sign-in link", Path: f.userPath(u) + "/link", Label: "Create the link", Safe: true,
		Consequence: "The next page shows a new link for " + u.Email + ". Earlier ones stop working.",
	}, func() error {
		made, err := f.People.InviteAgain(r.Context(), r.Actor, u.ID)
		if err != nil {
			return err
		}
		return f.showInvitation(w, r, made)
	})
}

func (f *Frame) deactivateUser(w http.ResponseWriter, r *Request, u people.User) error {
	if u.Inactive {
		return f.Redirect(w, r, f.userPath(u), u.Email+" is inactive.")
	}
	c := Confirm{
		Title: "Deactivate " + u.Email, Path: f.userPath(u) + "/deactivate", Label: "Deactivate",
		Consequence: whose(r, u) + " sessions and sign-in links end, and two-step sign-in is turned off. Signing in is refused until another administrator activates the account.",
	}
	return f.endUser(w, r, u, c, f.People.DeactivateUser, f.userPath(u), u.Email+" is inactive and signed out everywhere.", noticeDeactivated)
}

func (f *Frame) activateUser(w http.ResponseWriter, r *Request, u people.User) error {
	if !u.Inactive {
		return f.Redirect(w, r, f.userPath(u), u.Email+" is active.")
	}
	return f.askAbout(w, r, u, Confirm{
		Title: "Activate " + u.Email, Path: f.userPath(u) + "/activate", Label: "Activate", Safe: true,
		Consequence: "This person can sign in again, with the same password and without two-step sign-in.",
	}, func() error {
		if _, err := f.People.ActivateUser(r.Context(), r.Actor, u.ID); err != nil {
			return err
		}
		return f.Redirect(w, r, f.userPath(u), u.Email+" is active and can sign in again.")
	})
}

func (f *Frame) removeUser(w http.ResponseWriter, r *Request, u people.User) error {
	c := Confirm{
		Title: "Remove " + u.Email, Path: f.userPath(u) + "/remove", Label: "Remove",
		Consequence: whose(r, u) + " password, sessions, sign-in links and two-step sign-in are deleted. This can't be undone. Entries of the audit log keep the e-mail.",
	}
	return f.endUser(w, r, u, c, f.People.RemoveUser, f.users(), u.Email+" was removed.", noticeRemoved)
}

// ChangeAdministrator makes a user an administrator after asking, or takes those rights away. It
// is for services with [Config.Roles]; {id} in the address names the user.
func (f *Frame) ChangeAdministrator(w http.ResponseWriter, r *Request) error {
	return f.onUser(func(w http.ResponseWriter, r *Request, u people.User) error {
		if u.Administrator {
			return f.demoteUser(w, r, u)
		}
		return f.promoteUser(w, r, u)
	})(w, r)
}

func (f *Frame) promoteUser(w http.ResponseWriter, r *Request, u people.User) error {
	return f.askAbout(w, r, u, Confirm{
		Title: "Promote " + u.Email + " to administrator", Path: f.userPath(u) + "/administrator", Label: "Promote to administrator", Safe: true,
		Consequence: "This person gets full access: to every workspace as its owner, to all users and to the state of the store.",
	}, func() error {
		if _, err := f.People.SetAdministrator(r.Context(), r.Actor, u.ID, true); err != nil {
			return err
		}
		return f.Redirect(w, r, f.userPath(u), u.Email+" is an administrator.")
	})
}

func (f *Frame) demoteUser(w http.ResponseWriter, r *Request, u people.User) error {
	next, consequence := f.userPath(u), "This person keeps only their roles in workspaces."
	if u.ID == r.User.ID {
		next, consequence = f.Home, "This is your own account: you keep only your roles in workspaces, and only another administrator can undo it."
	}
	return f.askAbout(w, r, u, Confirm{
		Title: "Remove administrator rights of " + u.Email, Path: f.userPath(u) + "/administrator", Label: "Remove administrator rights", Consequence: consequence,
	}, func() error {
		if _, err := f.People.SetAdministrator(r.Context(), r.Actor, u.ID, false); err != nil {
			return err
		}
		return f.Redirect(w, r, next, u.Email+" is not an administrator any more.")
	})
}

// endUser takes an account away and leads to a page, or out for the user's own account.
func (f *Frame) endUser(w http.ResponseWriter, r *Request, u people.User, c Confirm,
	do func(context.Context, people.Actor, int64) (people.User, error), next, done string, own notice) error {
	return f.askAbout(w, r, u, c, func() error {
		if _, err := do(r.Context(), r.Actor, u.ID); err != nil {
			return err
		}
		if u.ID != r.User.ID {
			return f.Redirect(w, r, next, done)
		}
		if err := f.endOwnSession(r); err != nil {
			return err
		}
		return f.toSignIn(w, r, own)
	})
}

// whose begins a sentence about what a user has.
func whose(r *Request, u people.User) string {
	if u.ID == r.User.ID {
		return "This is your own account: you are signed out at once. Your"
	}
	return "The account's"
}

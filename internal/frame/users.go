package frame

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
)

// users is the path of the administrators.
func (f *Frame) users() string { return f.siblingPath("users") }

func (f *Frame) userPath(u people.User) string {
	return f.users() + "/" + strconv.FormatInt(u.ID, 10)
}

func (f *Frame) usersCrumb() Link { return Link{Label: f.usersTitle(), Path: f.users()} }

func (f *Frame) usersTitle() string {
	if f.Roles {
		return "Users"
	}
	return "Administrators"
}

func (f *Frame) showUsers(w http.ResponseWriter, r *Request) error {
	all, err := f.People.Users(r.Context(), r.Actor)
	if err != nil {
		return err
	}
	rows, err := f.userRows(r, all)
	if err != nil {
		return err
	}
	lead := "Everybody who signs in here. All have full access."
	if f.Roles {
		lead = "Everybody who signs in here. Administrators have full access. The others have roles in workspaces."
	}
	return f.Show(w, r, Page{
		Title: f.usersTitle(), Lead: lead, Body: usersView(f.usersTitle(), f.userColumns(), rows),
		Action: LinkButton{Link: Link{Label: "Add an administrator", Path: f.users() + "/new", Icon: "plus"}, Kind: Primary},
	})
}

func (f *Frame) userColumns() []Column {
	all := []Column{{Label: "E-mail"}, {Label: "State"}, {Label: "Two-step sign-in"}, {Label: "Last sign-in"}, {Label: "Actions", Quiet: true}}
	if f.RolesOf == nil {
		return all
	}
	return slices.Insert(all, 1, Column{Label: "Roles"})
}

func (f *Frame) userRows(r *Request, all []people.User) ([]Row, error) {
	var roles map[int64][]string
	if f.RolesOf != nil {
		var err error
		if roles, err = f.RolesOf(r); err != nil {
			return nil, err
		}
	}
	rows := make([]Row, len(all))
	for i, u := range all {
		var name templ.Component = Link{Label: u.Email, Path: f.userPath(u)}
		if f.Roles && u.Administrator {
			name = Group(name, Badge{Text: "Administrator", Kind: Note})
		}
		if u.ID == r.User.ID {
			name = Group(name, Badge{Text: "You"})
		}
		rows[i] = Row{
			name, userState(u), onOff(u.TOTP), lastSignIn(u),
			LinkButton{Link: Link{Label: "Manage", Path: f.userPath(u)}, Context: u.Email},
		}
		if f.RolesOf != nil {
			rows[i] = slices.Insert(rows[i], 1, rolesCell(roles[u.ID]))
		}
	}
	return rows, nil
}

// rolesCell lists roles under each other, a dash for none.
func rolesCell(roles []string) templ.Component {
	if len(roles) == 0 {
		return Muted("–")
	}
	all := make([]templ.Component, len(roles))
	for i, role := range roles {
		all[i] = Words(role)
	}
	return Stack(all...)
}

func userState(u people.User) Badge {
	switch {
	case u.Inactive:
		return Badge{Text: "Inactive", Kind: Warning}
	case !u.HasPassword:
		return Badge{Text: "Invited", Kind: Note}
	}
	return Badge{Text: "Active", Kind: Good}
}

func onOff(on bool) templ.Component {
	if on {
		return Words("On")
	}
	return Muted("Off")
}

func lastSignIn(u people.User) templ.Component {
	if u.SignedInAt.IsZero() {
		return Muted("never")
	}
	return Time(u.SignedInAt)
}

func (f *Frame) newUserPage(email string, wrong Errors) Page {
	return Page{
		Title: "Add an administrator", Crumbs: []Link{f.usersCrumb()}, Body: newUserView(f, email, wrong),
		Lead: "Creates an account and a link with which the person signs in and chooses a password.",
	}
}

func (f *Frame) showNewUser(w http.ResponseWriter, r *Request) error {
	if err := f.People.MayManage(r.Actor); err != nil {
		return err
	}
	return f.Show(w, r, f.newUserPage("", nil))
}

// inviteUser shows the new link in its response: it is at no address. Loading the page
// again creates nothing, because the e-mail is taken.
func (f *Frame) inviteUser(w http.ResponseWriter, r *Request) error {
	return f.Submit(w, r, Form{
		Check:  Required("email", "Type the person's e-mail.", "password", "Type your password."),
		Rules:  []Rule{emailRule, f.PasswordRule(r)},
		Fields: []string{"email", "password"},
		About:  map[string]string{"email": "email", "password": "password"},
		Again:  func(in url.Values, wrong Errors) (Page, error) { return f.newUserPage(in.Get("email"), wrong), nil },
		Do: func(in url.Values) error {
			made, err := f.People.InviteAdministrator(r.Context(), r.Actor, in.Get("email"))
			if fault.HasCode(err, "email_taken") { // as after loading the page again
				return fault.WithMessage(fault.Of(err), "An administrator with this e-mail already exists. If you have just added it, open it in the list to create a new link.")
			}
			if err != nil {
				return err
			}
			return f.showInvitation(w, r, made)
		},
	})
}

// emailRule checks the e-mail that a user is to have.
func emailRule(in url.Values) error {
	_, err := people.CleanEmail(in.Get("email"))
	return err
}

func (f *Frame) showInvitation(w http.ResponseWriter, r *Request, made people.Invitation) error {
	link := f.Address(w, r, f.siblingPath("link")) + "#" + made.Token
	return f.Show(w, r, Page{
		Title: "Link for " + made.User.Email, Crumbs: []Link{f.usersCrumb()}, Body: invitationView(f, made, link),
		Lead: "The server sends no e-mail. Send the link to the person yourself.",
	})
}

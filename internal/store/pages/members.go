package pages

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
)

// roleNames are the roles as people read them.
var roleNames = map[store.Role]string{store.RoleViewer: "Viewer", store.RoleManager: "Manager", store.RoleOwner: "Owner"}

func roleName(r store.Role) string { return roleNames[r] }

// rolesOf reads what all users are in workspaces, for the page of users.
func rolesOf(s *store.Store) func(*frame.Request) (map[int64][]string, error) {
	return func(r *frame.Request) (map[int64][]string, error) {
		all, err := s.Memberships(r.Context(), r.Actor)
		roles := make(map[int64][]string, len(all))
		for user, of := range all {
			for _, m := range of {
				roles[user] = append(roles[user], roleName(m.Role)+" in "+m.Workspace)
			}
		}
		return roles, err
	}
}

// roleChoices are the roles of a form, from the least.
var roleChoices = []frame.Choice{
	{Value: string(store.RoleViewer), Label: "Viewer: reads everything but the e-mail addresses of buyers"},
	{Value: string(store.RoleManager), Label: "Manager: also works on items, purchases and licenses"},
	{Value: string(store.RoleOwner), Label: "Owner: also works on API keys, members and settings"},
}

func membersPath(ws store.WorkspaceRole, below string) string {
	return workspacePath(ws.Account.Username, "/settings/members"+below)
}

func memberPath(ws store.WorkspaceRole, m store.Member, below string) string {
	return membersPath(ws, "/"+strconv.FormatInt(m.User, 10)+below)
}

func membersCrumbs(ws store.WorkspaceRole) []frame.Link {
	return []frame.Link{workspaceCrumb(ws), {Label: "Members", Path: membersPath(ws, "")}}
}

func (p *Pages) showMembers(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	invited, err := p.store.Invitations(r.Context(), r.Actor, ws.Account.Username)
	if err != nil {
		return err
	}
	members, err := p.store.Members(r.Context(), r.Actor, ws.Account.Username)
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, frame.Page{
		Title: "Members", Lead: "The people who work in this workspace. Administrators of the store are owners here as well.",
		Crumbs: membersCrumbs(ws)[:1], Body: membersView(memberRows(r, ws, members), invitationRows(ws, invited)),
		Action: frame.LinkButton{Link: frame.Link{Label: "Invite a member", Path: membersPath(ws, "/new"), Icon: "plus"}, Kind: frame.Primary},
	})
}

func memberRows(r *frame.Request, ws store.WorkspaceRole, all []store.Member) []frame.Row {
	rows := make([]frame.Row, len(all))
	for i, m := range all {
		name := frame.Group(frame.Words(m.Email))
		if m.User == r.User.ID {
			name = frame.Group(name, frame.Badge{Text: "You"})
		}
		if m.Inactive {
			name = frame.Group(name, frame.Badge{Text: "Inactive", Kind: frame.Warning})
		}
		rows[i] = frame.Row{
			name, frame.Words(roleName(m.Role)), frame.Time(m.Since.Time),
			frame.LinkButton{Link: frame.Link{Label: "Manage", Path: memberPath(ws, m, "")}, Context: m.Email},
		}
	}
	return rows
}

func invitationRows(ws store.WorkspaceRole, all []store.Invitation) []frame.Row {
	rows := make([]frame.Row, len(all))
	for i, one := range all {
		rows[i] = frame.Row{
			frame.Words(one.Email), frame.Words(roleName(one.Role)), frame.Words(one.InvitedBy), frame.Time(one.ExpiresAt.Time),
			frame.Button{Label: "Withdraw", Path: membersPath(ws, "/invitations/"+one.ID+"/withdraw"), Context: "the invitation of " + one.Email, Small: true},
		}
	}
	return rows
}

// invitationForm is what the form of a new invitation holds.
type invitationForm struct {
	email string
	role  store.Role
	errs  frame.Errors
}

// ownerPassword asks for the password, which only a new owner needs.
func ownerPassword(wrong frame.Errors) frame.Field {
	field := frame.PasswordField(wrong)
	field.Required, field.Help = false, "Only for the role Owner."
	return field
}

// checkOwner asks a user for the password before another one becomes an owner: a stolen session must not suffice.
func (p *Pages) checkOwner(r *frame.Request, role store.Role, in url.Values) error {
	if role != store.RoleOwner {
		return nil
	}
	if in.Get("password") == "" {
		return wrongField("password", "Type your password: this person becomes an owner.")
	}
	return p.store.Instance.People.CheckPassword(r.Context(), r.Actor, in.Get("password"))
}

func (p *Pages) newMemberPage(ws store.WorkspaceRole, f invitationForm) frame.Page {
	return frame.Page{
		Title: "Invite a member", Crumbs: membersCrumbs(ws), Body: newMemberView(ws, f),
		Lead: "Creates a link with which the person joins this workspace.",
	}
}

func (p *Pages) showNewMember(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	if err := p.store.MayOwn(r.Context(), r.Actor, ws.Account.Username); err != nil {
		return err
	}
	return p.frame.Show(w, r, p.newMemberPage(ws, invitationForm{role: store.RoleViewer}))
}

// inviteMember shows the new link in its response: it is at no address.
func (p *Pages) inviteMember(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	return p.frame.Submit(w, r, frame.Form{
		Check: frame.Required("email", "Type the person's e-mail.", "role", "Choose a role."),
		Rules: []frame.Rule{
			func(in url.Values) error { return store.CheckInvitation(in.Get("email"), store.Role(in.Get("role"))) },
			func(in url.Values) error { return p.checkOwner(r, store.Role(in.Get("role")), in) },
		},
		Fields: []string{"email", "role", "password"},
		About:  map[string]string{"email": "email", "role_invalid": "role", "password": "password"},
		Again: func(in url.Values, wrong frame.Errors) (frame.Page, error) {
			return p.newMemberPage(ws, invitationForm{in.Get("email"), store.Role(in.Get("role")), wrong}), nil
		},
		Do: func(in url.Values) error {
			made, token, err := p.store.Invite(r.Context(), r.Actor, ws.Account.Username, in.Get("email"), store.Role(in.Get("role")))
			if err != nil {
				return err
			}
			return p.frame.Show(w, r, frame.Page{
				Title: "Invitation for " + made.Email, Crumbs: membersCrumbs(ws), Body: invitedView(ws, made, r.User.Email, p.frame.Address(w, r, PathInvite)+"#"+token),
				Lead: "The server sends no e-mail. Send the link to the person yourself.",
			})
		},
	})
}

// invitationText is what the inviter sends to the person.
func invitationText(ws store.WorkspaceRole, made store.Invitation, inviter, link string) string {
	return inviter + " invites you to the workspace " + ws.Account.Username + " with the role " + roleName(made.Role) +
		".\n\nOpen this link to join. It works once, until " + frame.Moment(made.ExpiresAt.Time) + ":\n" + link + "\n"
}

// withdrawInvitation ends an invitation. Its button asks nothing first: another invitation
// is made in a moment.
func (p *Pages) withdrawInvitation(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	err := p.store.WithdrawInvitation(r.Context(), r.Actor, ws.Account.Username, r.PathValue("id"))
	if err != nil && !fault.HasCode(err, "invitation_not_found") {
		return err
	}
	return p.frame.Redirect(w, r, membersPath(ws, ""), "The invitation no longer works.")
}

// onMember serves what the address names: a member of the workspace.
func (p *Pages) onMember(h func(http.ResponseWriter, *frame.Request, store.WorkspaceRole, store.Member) error) http.Handler {
	return p.inWorkspace(func(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
		if err := p.store.MayOwn(r.Context(), r.Actor, ws.Account.Username); err != nil {
			return err
		}
		id, err := strconv.ParseInt(r.PathValue("user"), 10, 64)
		if err != nil {
			return p.frame.NotFound(w, r)
		}
		m, err := p.store.Member(r.Context(), r.Actor, ws.Account.Username, id)
		if err != nil {
			return err
		}
		return h(w, r, ws, m)
	})
}

func memberPage(ws store.WorkspaceRole, m store.Member, errs frame.Errors) frame.Page {
	return frame.Page{Title: m.Email, Crumbs: membersCrumbs(ws), Body: memberView(ws, m, errs)}
}

func (p *Pages) showMember(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, m store.Member) error {
	return p.frame.Show(w, r, memberPage(ws, m, nil))
}

func (p *Pages) setMember(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, m store.Member) error {
	before := m.Role
	return p.frame.Submit(w, r, frame.Form{
		Fields: []string{"role", "password"},
		About:  map[string]string{"role_invalid": "role", "last_owner": "role", "password": "password"},
		Again: func(in url.Values, wrong frame.Errors) (frame.Page, error) {
			m.Role = store.Role(in.Get("role"))
			return memberPage(ws, m, wrong), nil
		},
		Do: func(in url.Values) error {
			role := store.Role(in.Get("role"))
			if role != before {
				if err := p.checkOwner(r, role, in); err != nil {
					return err
				}
			}
			after, err := p.store.SetMember(r.Context(), r.Actor, ws.Account.Username, m.User, role)
			if err != nil {
				return err
			}
			return p.leave(w, r, ws, m, after.Email+" now has the role "+roleName(after.Role)+".")
		},
	})
}

func (p *Pages) removeMember(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, m store.Member) error {
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Remove " + m.Email, Crumbs: append(membersCrumbs(ws), frame.Link{Label: m.Email, Path: memberPath(ws, m, "")}),
		Consequence: m.Email + " can't open the workspace " + ws.Account.Username + " any more. The account, and roles in other workspaces, stay.",
		Path:        memberPath(ws, m, "/remove"), Label: "Remove", Cancel: memberPath(ws, m, ""), Failed: "Nothing was removed.",
		Form: frame.Form{Do: func(url.Values) error {
			if _, err := p.store.RemoveMember(r.Context(), r.Actor, ws.Account.Username, m.User); err != nil {
				return err
			}
			return p.leave(w, r, ws, m, m.Email+" is no longer a member.")
		}},
	})
}

// leave goes back to the members, or out of the workspace for somebody who has changed the
// own role.
func (p *Pages) leave(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, m store.Member, flash string) error {
	if m.User == r.User.ID && !r.User.Administrator {
		return p.frame.Redirect(w, r, PathWorkspaces, flash)
	}
	return p.frame.Redirect(w, r, membersPath(ws, ""), flash)
}

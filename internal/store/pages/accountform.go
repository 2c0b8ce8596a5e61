package pages

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/validation"
)

// accountField is a field about a member of the account. Its name is that of the member in the API.
type accountField struct {
	frame.Field
	of func(*countersign.Account) *string
}

// accountForm is a form about a part of a workspace's account.
type accountForm struct {
	part                store.AccountPart
	title, lead, below  string
	fields              []accountField
	withLinks, withFact bool
}

// formID is the id of the form that the preview follows.
const formID = "account"

var generalForm = accountForm{
	part: store.AccountGeneral, title: "General", below: "/settings/general", withFact: true,
	lead: "Who the author is. Programs with a secret key of this workspace read it.",
	fields: []accountField{
		{frame.Field{Name: "name.firstname", Label: "First name"}, func(a *countersign.Account) *string { return &a.Name.Firstname }},
		{frame.Field{Name: "name.lastname", Label: "Last name"}, func(a *countersign.Account) *string { return &a.Name.Lastname }},
		{frame.Field{Name: "email", Label: "E-mail", Kind: frame.Email}, func(a *countersign.Account) *string { return &a.Email }},
		{frame.Field{Name: "currency", Label: "Currency", Required: true, Help: "Three letters, as in ISO 4217. Amounts are not converted.", Example: "USD"}, func(a *countersign.Account) *string { return &a.Currency }},
	},
}

var profileForm = accountForm{
	part: store.AccountProfile, title: "Profile", below: "/settings/profile", withLinks: true,
	lead: "What programs show to the public about the author.",
	fields: []accountField{
		{frame.Field{Name: "profile.heading", Label: "Heading", Help: "One line."}, func(a *countersign.Account) *string { return &a.Profile.Heading }},
		{frame.Field{Name: "profile.description", Label: "Description", Kind: frame.TextArea}, func(a *countersign.Account) *string { return &a.Profile.Description }},
		{frame.Field{Name: "profile.contact.email", Label: "Contact e-mail", Kind: frame.Email, Help: "Where buyers write to."}, func(a *countersign.Account) *string { return &a.Profile.Contact.Email }},
		{frame.Field{Name: "profile.media.avatar", Label: "Avatar", Help: "Address of a picture. Empty is the store's default picture.", Example: "https://cdn.example/avatar.png"}, func(a *countersign.Account) *string { return &a.Profile.Media.Avatar }},
		{frame.Field{Name: "profile.media.cover", Label: "Cover", Help: "Address of a picture. Empty is the store's default picture.", Example: "https://cdn.example/cover.png"}, func(a *countersign.Account) *string { return &a.Profile.Media.Cover }},
	},
}

// accountPage is what the page of such a form shows.
type accountPage struct {
	accountForm
	// saved is the workspace as it is saved, and typed the account that stands in the form.
	saved   store.WorkspaceRole
	entered countersign.Account
	// revision is that of the part of the account that the form was made from.
	revision string
	links    []socialLink
	errs     frame.Errors
	conflict *frame.Conflict
	preview  string
}

func (f accountForm) pageOf(ws store.WorkspaceRole) accountPage {
	return accountPage{accountForm: f, saved: ws, entered: ws.Account, revision: f.part.Revision(ws.Workspace), links: socialLinksOf(ws.Account.Profile.SocialLinks)}
}

func (a accountPage) path() string { return workspacePath(a.saved.Account.Username, a.below) }

// shown are the fields with what stands in them.
func (a accountPage) shown() []frame.Field {
	all := make([]frame.Field, len(a.fields))
	for i, f := range a.fields {
		all[i] = f.Field
		all[i].Key, all[i].Value, all[i].Error = f.Name, *f.of(&a.entered), a.errs.Of(f.Name)
	}
	return all
}

// names are those of the fields from top to bottom.
func (a accountPage) names() (all []string) {
	for _, f := range a.fields {
		all = append(all, f.Name)
	}
	for i := range a.links {
		all = append(all, linkName(i), linkAddress(i))
	}
	return all
}

// take puts what was posted in the place of what is saved.
func (a *accountPage) take(in url.Values) {
	for _, f := range a.fields {
		*f.of(&a.entered) = strings.TrimSpace(strings.ReplaceAll(in.Get(f.Name), "\r\n", "\n"))
	}
	a.revision = in.Get("revision")
	if a.withLinks {
		a.links = postedLinks(in)
		a.entered.Profile.SocialLinks = linksOf(a.links)
	}
}

// page completes the page, with the preview of what stands in the form.
func (p *Pages) accountPage(r *frame.Request, a accountPage) (frame.Page, error) {
	body, err := validation.AccountBody(a.part.Edited(a.saved.Workspace, a.entered).Account, p.apiURL(r))
	a.preview = frame.Indented(body)
	return frame.Page{
		Title: a.title, Lead: a.lead, Crumbs: []frame.Link{workspaceCrumb(a.saved)}, Body: accountView(a), Scripts: []string{frame.PreviewScript},
	}, err
}

func (p *Pages) showAccount(f accountForm) placeHandler {
	return func(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
		page, err := p.accountPage(r, f.pageOf(ws))
		if err != nil {
			return err
		}
		return p.frame.Show(w, r, page)
	}
}

// saveAccount saves the form. Its buttons with a value only show the page with what was typed.
func (p *Pages) saveAccount(f accountForm) placeHandler {
	return func(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
		in, err := r.PostValues()
		if err != nil {
			return err
		}
		a := f.pageOf(ws)
		a.take(in)
		if button := in.Get("do"); button != "" {
			a.links = pressed(a.links, button)
			a.entered.Profile.SocialLinks = linksOf(a.links)
			page, err := p.accountPage(r, a)
			if err != nil {
				return err
			}
			return p.frame.Show(w, r, page)
		}
		return p.frame.Submit(w, r, frame.Form{
			Check:   func(url.Values) frame.Errors { return a.check() },
			Rules:   []frame.Rule{func(url.Values) error { return p.store.CheckWorkspace(a.part.Edited(a.saved.Workspace, a.entered)) }},
			Fields:  a.names(),
			Do:      func(url.Values) error { return p.setAccount(w, r, &a) },
			Explain: func(refused error) (frame.Errors, bool) { return p.explainAccount(r, &a, refused) },
			Again: func(_ url.Values, wrong frame.Errors) (frame.Page, error) {
				a.errs = wrong
				return p.accountPage(r, a)
			},
		})
	}
}

// check finds what is wrong with a posted form. Without a revision it is not a whole form of ours.
func (a *accountPage) check() frame.Errors {
	if a.revision == "" {
		a.revision = a.part.Revision(a.saved.Workspace)
		return frame.Errors{{Text: "The form arrived incomplete. Check it below and save it again."}}
	}
	if a.withLinks {
		return wrongLinks(a.links)
	}
	return nil
}

func (p *Pages) setAccount(w http.ResponseWriter, r *frame.Request, a *accountPage) error {
	saved, err := p.store.SetAccount(r.Context(), r.Actor, a.saved.Account.Username, store.AccountEdit{Part: a.part, Seen: a.revision, Account: a.entered})
	if err == nil {
		return p.frame.Redirect(w, r, a.path(), "Saved. The API answers with the new values.")
	}
	if saved.ID != 0 {
		a.saved.Workspace = saved
	}
	return err
}

// explainAccount says at the fields what is wrong. Where somebody else saved first, the page has both versions.
func (p *Pages) explainAccount(r *frame.Request, a *accountPage, refused error) (frame.Errors, bool) {
	if fault.HasKind(refused, countersign.KindPrecondition) {
		log := p.store.WorkspaceAudit(a.saved.Account.Username)
		a.setConflict(frame.LastAct(r, log, "workspace.set"))
		return nil, true
	}
	errs, explained := frame.FormErrors(refused)
	for i, one := range errs {
		if name, is := strings.CutPrefix(one.Name, "social_links."); is {
			errs[i].Name = linkNamed(a.links, name)
		}
	}
	return errs, explained
}

// setConflict puts what somebody else saved beside what was typed. Sent again, the form replaces it.
func (a *accountPage) setConflict(first string) {
	now := a.pageOf(a.saved)
	a.revision = now.revision
	a.conflict = &frame.Conflict{Title: frame.ConflictTitle, First: first, Choices: accountChoices(*a), Text: frame.ConflictText}
	for _, f := range a.fields {
		was, is := *f.of(&now.entered), *f.of(&a.entered)
		if was != is {
			a.conflict.Versions = append(a.conflict.Versions, frame.Change{Key: f.Name, Label: f.Label, Before: was, After: is})
		}
	}
	a.conflict.Versions = append(a.conflict.Versions, linkChanges(now.entered.Profile.SocialLinks, a.entered.Profile.SocialLinks)...)
	if len(a.conflict.Versions) == 0 {
		a.conflict.Text = frame.ConflictSame
	}
}

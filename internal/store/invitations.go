package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/storedb"
)

// invitationLife is how long an invitation can be accepted.
const invitationLife = 7 * 24 * time.Hour

// Invitation is an offer of a role in a workspace to whoever has its token.
type Invitation = storedb.Invitation

// Invitations lists the open invitations to a workspace, the newest first.
func (s *Store) Invitations(ctx context.Context, a people.Actor, workspace string) ([]Invitation, error) {
	w, err := s.workspace(ctx, a, workspace, access.Own)
	if err != nil {
		return nil, err
	}
	return s.db.Invitations(ctx, w.ID, sqldb.Time{Time: s.now()})
}

// Invite makes an invitation to a workspace, valid for 7 days and one use, while the actor may
// invite. The token is nowhere else: the database stores its digest. email says for whom it
// is: whoever accepts it has an account of that e-mail.
func (s *Store) Invite(ctx context.Context, a people.Actor, workspace, email string, role Role) (i Invitation, token string, err error) {
	token, now := rand.Text(), s.now().Truncate(time.Second)
	i = Invitation{
		ID: rand.Text()[:12], Digest: digestOf(token), Role: role, InvitedBy: a.ID, Inviter: a.User,
		CreatedAt: sqldb.Time{Time: now}, ExpiresAt: sqldb.Time{Time: now.Add(invitationLife)},
	}
	err = s.db.Tx(ctx, func(tx *storedb.DB) error {
		w, err := access.Workspace(ctx, tx, a, workspace, access.Own)
		if err != nil {
			return err
		}
		i.Workspace = w.ID
		if i.Email, err = checkInvitation(email, role); err != nil {
			return err
		}
		if err := tx.DeleteExpiredInvitations(ctx, i.CreatedAt); err != nil {
			return err
		}
		if err := tx.AddInvitation(ctx, i); err != nil {
			return err
		}
		return people.Record(ctx, &tx.DB, now, a, people.Event{Action: actionInviteMember, Workspace: workspace, Subject: i.Email, After: string(role)})
	})
	if err != nil {
		return Invitation{}, "", err
	}
	return i, token, nil
}

// CheckInvitation returns all that is wrong with an invitation that is to be made, with Fields "email" and "role". It is
// public.
func CheckInvitation(email string, role Role) error {
	_, err := checkInvitation(email, role)
	return err
}

func checkInvitation(email string, role Role) (cleaned string, err error) {
	cleaned, wrongEmail := people.CleanEmail(email)
	_, wrongRole := ParseRole(string(role))
	return cleaned, fault.All(fault.At("email", wrongEmail), fault.At("role", wrongRole))
}

// WithdrawInvitation ends an invitation that nobody has accepted.
func (s *Store) WithdrawInvitation(ctx context.Context, a people.Actor, workspace, id string) error {
	return s.db.Tx(ctx, func(tx *storedb.DB) error {
		w, err := access.Workspace(ctx, tx, a, workspace, access.Own)
		if err != nil {
			return err
		}
		i, err := tx.DeleteInvitation(ctx, w.ID, id)
		if err != nil {
			return sqldb.IfNotFound(err, fault.NotFound("invitation_not_found", "This invitation was accepted, was withdrawn or has expired"))
		}
		return people.Record(ctx, &tx.DB, s.now(), a, people.Event{Action: actionWithdrawInvite, Workspace: workspace, Subject: i.Email})
	})
}

// Offer is what an invitation offers.
type Offer struct {
	Invitation
	Username string // of the workspace
}

// Offer returns what a token invites to. It is public: the token is the credential. The
// error is link_unknown (forbidden) when the invitation was accepted or withdrawn, has
// expired, or its inviter may not invite any more.
func (s *Store) Offer(ctx context.Context, token string) (Offer, error) {
	return s.offer(ctx, s.db, token)
}

// OfferFor is [Store.Offer] for somebody with an e-mail. Another one than that of the invitation is invitation_email
// (forbidden); an invalid one is not checked.
func (s *Store) OfferFor(ctx context.Context, token, email string) (Offer, error) {
	o, err := s.Offer(ctx, token)
	if cleaned, wrong := people.CleanEmail(email); err == nil && wrong == nil && !o.isFor(cleaned) {
		err = o.errEmail()
	}
	return o, err
}

func (s *Store) offer(ctx context.Context, db *storedb.DB, token string) (Offer, error) {
	i, err := db.Invitation(ctx, digestOf(token))
	if err == nil && !i.ExpiresAt.After(s.now()) {
		err = sqldb.ErrNotFound
	}
	if err != nil {
		return Offer{}, sqldb.IfNotFound(err, errNoOffer)
	}
	w, err := db.WorkspaceByID(ctx, i.Workspace)
	return Offer{i, w.Account.Username}, err
}

// isFor reports whether the invitation is for the user with an e-mail, in any form of it.
func (o Offer) isFor(email string) bool {
	meant, errMeant := people.CleanEmail(o.Email)
	is, errIs := people.CleanEmail(email)
	return o.Email == "" || email == o.Email || errMeant == nil && errIs == nil && is == meant
}

func (o Offer) errEmail() error {
	return fault.Forbidden("invitation_email", "This invitation is for "+o.Email+". Use an account with that e-mail, or ask for an invitation for yours")
}

// Accept makes the acting user a member by an invitation, which is used up. A user who
// already is one stays as it is (member_exists, a conflict). One whom it is not for is
// invitation_email (forbidden). The other errors are those of [Store.Offer].
func (s *Store) Accept(ctx context.Context, a people.Actor, token string) (Offer, error) {
	if a.Kind != people.KindUser || a.User == 0 {
		return Offer{}, fault.Forbidden("not_allowed", "Nobody is signed in")
	}
	var o Offer
	err := s.db.Tx(ctx, func(tx *storedb.DB) (err error) {
		o, err = s.accept(ctx, tx, a, token)
		return err
	})
	return o, err
}

// AcceptAsNew creates a user by an invitation, who is a member then. The errors are those
// of [Store.Offer] and [people.People.Join].
func (s *Store) AcceptAsNew(ctx context.Context, from people.Origin, token, email, password string) (people.User, Offer, error) {
	o, err := s.OfferFor(ctx, token, email)
	if err != nil {
		return people.User{}, Offer{}, err
	}
	u, err := s.Instance.People.Join(ctx, from, o.ID, email, password, func(tx *peopledb.DB, u people.User) error {
		o, err = s.accept(ctx, storedb.In(tx.Queries), u.Actor(from), token)
		return err
	})
	return u, o, err
}

// accept uses an invitation up for a user.
func (s *Store) accept(ctx context.Context, tx *storedb.DB, a people.Actor, token string) (Offer, error) {
	o, err := s.offer(ctx, tx, token)
	if err != nil {
		return Offer{}, err
	}
	if !o.isFor(a.ID) {
		return Offer{}, o.errEmail()
	}
	w, err := tx.LockWorkspace(ctx, o.Username)
	if err != nil {
		return Offer{}, err
	}
	// Behind the lock, nobody takes the role of its inviter any more.
	o.Invitation, err = tx.TakeInvitation(ctx, o.Digest, sqldb.Time{Time: s.now()})
	if err != nil {
		return Offer{}, sqldb.IfNotFound(err, errNoOffer)
	}
	return o, s.addMember(ctx, tx, a, w, Member{User: a.User, Email: a.ID, Role: o.Role, Since: sqldb.Time{Time: s.now()}})
}

// digestOf is how a token is found. SHA-256 is enough for what was drawn at random from
// 2^128.
func digestOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

var errNoOffer = fault.Forbidden("link_unknown", "This invitation was accepted or withdrawn, or has expired. Ask the person who invited you for a new one")

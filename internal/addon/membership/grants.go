package membership

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// maxReason is how long the reason of a grant or a transfer may be, in bytes.
const maxReason = 500

// Grant is a membership that the site granted by hand.
type Grant struct {
	ID        int64
	User      string
	Package   int64
	Reason    string
	By        string
	CreatedAt time.Time
	EndsAt    time.Time // zero: no end
	EndedAt   time.Time // zero: it was not ended early
	EndedBy   string
}

func grantOf(g addondb.Grant) Grant {
	return Grant{
		ID: g.ID, User: g.UserID, Package: g.PackageID, Reason: g.Reason, By: g.GrantedBy,
		CreatedAt: g.CreatedAt.Time, EndsAt: g.EndsAt.Time, EndedAt: g.EndedAt.Time, EndedBy: g.EndedBy,
	}
}

// Grants lists a user's grants, newest first, those that have ended too.
func (s *Service) Grants(ctx context.Context, actor people.Actor, user string) ([]Grant, error) {
	if err := s.access.May(actor, access.ManageMembers); err != nil {
		return nil, err
	}
	rows, err := s.db.Grants(ctx, user)
	return sqldb.Convert(rows, grantOf), err
}

// AddGrant grants a user a package until a time, zero for no end. Its errors are
// invalid_request with Fields "user", "until" and "reason", and package_not_found of kind NotFound.
func (s *Service) AddGrant(ctx context.Context, actor people.Actor, user string, packageID int64, until time.Time, reason string) (Grant, error) {
	if err := s.access.May(actor, access.ManageMembers); err != nil {
		return Grant{}, err
	}
	if err := fault.All(fault.At("user", checkUser(user)), s.CheckGrant(until, reason)); err != nil {
		return Grant{}, err
	}
	reason, _ = checkReason(reason)
	row := addondb.Grant{UserID: user, PackageID: packageID, Reason: reason, GrantedBy: actor.ID, CreatedAt: s.timestamp(), EndsAt: at(until)}
	err := s.tx(ctx, func(tx *txn) (err error) {
		k, err := tx.Package(ctx, packageID)
		if err != nil {
			return sqldb.IfNotFound(err, fault.NotFound("package_not_found", fmt.Sprintf("No package %d", packageID)))
		}
		if row.ID, err = tx.AddGrant(ctx, row); err != nil {
			return err
		}
		event := people.Event{Action: access.ActionGrantAdd, Subject: user, After: k.Name + ", " + untilText(row.EndsAt), Detail: reason}
		return s.granted(ctx, tx, actor, row, event)
	})
	return grantOf(row), err
}

// CheckGrant returns all that is wrong with the end and the reason of a grant, with Fields "until" and "reason".
func (s *Service) CheckGrant(until time.Time, reason string) error {
	var wrongEnd error
	if !until.IsZero() && !until.After(s.now()) {
		wrongEnd = fault.At("until", fault.Invalid("invalid_request", "The end of a grant lies in the future"))
	}
	_, wrongReason := checkReason(reason)
	return fault.All(wrongEnd, fault.At("reason", wrongReason))
}

// EndGrant ends a user's grant now. One that has ended stays as it is.
func (s *Service) EndGrant(ctx context.Context, actor people.Actor, user string, id int64) (Grant, error) {
	if err := s.access.May(actor, access.ManageMembers); err != nil {
		return Grant{}, err
	}
	var row addondb.Grant
	err := s.tx(ctx, func(tx *txn) (err error) {
		if err := tx.LockMemberships(ctx, s.timestamp(), user); err != nil {
			return err
		}
		if row, err = tx.Grant(ctx, user, id); err != nil {
			return sqldb.IfNotFound(err, fault.NotFound("not_found", "No such grant"))
		}
		if !row.EndedAt.IsZero() || !row.EndsAt.IsZero() && !s.now().Before(row.EndsAt.Time) {
			return nil
		}
		row.EndedAt, row.EndedBy = s.timestamp(), actor.ID
		if err := tx.EndGrant(ctx, id, row.EndedBy, row.EndedAt); err != nil {
			return err
		}
		event := people.Event{Action: access.ActionGrantEnd, Subject: user, Before: fmt.Sprintf("package %d, %s", row.PackageID, untilText(row.EndsAt))}
		return s.granted(ctx, tx, actor, row, event)
	})
	return grantOf(row), err
}

// granted writes what follows from a changed grant.
func (s *Service) granted(ctx context.Context, tx *txn, actor people.Actor, g addondb.Grant, event people.Event) error {
	if err := s.recompute(ctx, tx, change{}, g.UserID); err != nil {
		return err
	}
	if !g.EndsAt.IsZero() && g.EndedAt.IsZero() {
		task := jobs.Task{Kind: KindGrantEnd, Key: fmt.Sprint(g.ID), Due: g.EndsAt.Time, Payload: grantEnd{Grant: g.ID}}
		if err := s.put(ctx, tx.DB, task); err != nil {
			return err
		}
	}
	return s.access.Audit(ctx, tx.DB, actor, event)
}

// checkReason checks a text that says why something was done by hand.
func checkReason(text string) (string, error) {
	text = strings.TrimSpace(strings.ToValidUTF8(text, ""))
	if text == "" || len(text) > maxReason || strings.ContainsRune(text, 0) {
		return "", fault.Invalid("invalid_request", fmt.Sprintf("A reason has 1 to %d bytes", maxReason))
	}
	return text, nil
}

func untilText(t sqldb.Time) string {
	if t.IsZero() {
		return "no end"
	}
	return "until " + t.UTC().Format(time.RFC3339)
}

package license

import (
	"context"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// Revoke revokes a license at the store, which frees its domain and adds the
// license to the revoked list. The file stays in the list here, as no longer valid. The
// errors are those of [Service.Make], and those of kind Conflict with the codes
// moves_used, move_too_soon, domain_not_activated, purchase_code_not_kept,
// license_ended for a file that is no longer valid and whose domain may have a newer
// one, and license_other when the store ended another one.
func (s *Service) Revoke(ctx context.Context, actor people.Actor, id int64) (License, error) {
	l, _, err := s.Find(ctx, actor, id)
	if err != nil {
		return License{}, err
	}
	if !l.Good() {
		return License{}, fault.Conflict("license_ended", "This file is no longer valid. Nothing was changed")
	}
	c, err := s.keptCode(ctx, l.Code.ID)
	if err != nil {
		return License{}, err
	}
	store := s.call(c.store, c.code)
	r, err := store.client.RevokeLicense(ctx, store.code, l.Domain, l.LicenseID)
	if err != nil {
		return License{}, store.explain(err)
	}
	ended := r.LicenseID
	l.Answer, l.CheckedAt = countersign.CheckRevoked, s.access.Now()
	err = s.db.Tx(ctx, func(tx *addondb.DB) error {
		if err := tx.NoteRevoked(ctx, c.id, ended, l.Answer, s.access.Timestamp()); err != nil {
			return err
		}
		return s.access.Audit(ctx, tx, actor, people.Event{Action: access.ActionLicenseRevoke, Subject: l.Domain, Detail: ended})
	})
	if err == nil && ended != l.LicenseID {
		return License{}, fault.Conflict("license_other", "The store revoked another license for "+l.Domain+", "+ended+". Verify this file with the store")
	}
	return l, err
}

// Forget removes a license file from the list. The store is not notified, so the
// license stays as it is there.
func (s *Service) Forget(ctx context.Context, actor people.Actor, id int64) error {
	l, _, err := s.Find(ctx, actor, id)
	if err != nil {
		return err
	}
	return s.db.Tx(ctx, func(tx *addondb.DB) error {
		if err := tx.DeleteLicense(ctx, id); err != nil {
			return err
		}
		return s.access.Audit(ctx, tx, actor, people.Event{Action: access.ActionLicenseForget, Subject: l.Domain, Detail: l.LicenseID})
	})
}

// ForgetCode deletes a kept purchase code and takes its license files off the list.
// The store is not notified. Its error is of kind NotFound.
func (s *Service) ForgetCode(ctx context.Context, actor people.Actor, id int64) error {
	if err := s.access.May(actor, access.ManageSite); err != nil {
		return err
	}
	return s.db.Tx(ctx, func(tx *addondb.DB) error {
		if _, err := tx.PurchaseCode(ctx, id); err != nil {
			return sqldb.IfNotFound(err, noCode)
		}
		domains, err := tx.DeleteLicensesOf(ctx, id)
		if err != nil {
			return err
		}
		if err := tx.DeleteUnusedCode(ctx, id); err != nil {
			return err
		}
		return s.access.Audit(ctx, tx, actor, people.Event{Action: access.ActionLicenseForgetCode, Subject: strings.Join(domains, ", ")})
	})
}

package people

import (
	"bytes"
	"context"
	"time"

	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people/peopledb"
)

// totpDropped stands in place of an authenticator app's secret that was deleted with its
// key file. Two-step sign-in stays on: a lost file must not make sign-in easier.
var totpDropped = []byte{0}

// LostTOTP lists the e-mails of users whose authenticator app stops working when the key
// file is replaced, because an old one, nil when it is lost, can't open its secret.
func LostTOTP(ctx context.Context, db *peopledb.DB, old *keyfile.Box) ([]string, error) {
	users, err := db.Users(ctx)
	var lost []string
	for _, u := range users {
		if u.TOTP != nil && !bytes.Equal(u.TOTP, totpDropped) && keyfile.Reseal(old, old, totpPurpose(u.ID), u.TOTP) == nil {
			lost = append(lost, u.Email)
		}
	}
	return lost, err
}

// Rekey brings users and audit log from an old key file, nil when it is lost, to a new
// one, in the transaction that replaces the key file. Secrets of authenticator apps that
// can't be opened are deleted; recovery codes still sign in. checked is that of
// [RekeyAudit].
func Rekey(ctx context.Context, tx *peopledb.DB, old, fresh *keyfile.Box, now time.Time) (checked bool, err error) {
	if err := tx.LockUsers(ctx); err != nil {
		return false, err
	}
	users, err := tx.Users(ctx)
	if err != nil {
		return false, err
	}
	for _, u := range users {
		if u.TOTP == nil && u.TOTPPending == nil {
			continue
		}
		if u.TOTP != nil {
			if u.TOTP = keyfile.Reseal(old, fresh, totpPurpose(u.ID), u.TOTP); u.TOTP == nil {
				u.TOTP = totpDropped
			}
		}
		u.TOTPPending = keyfile.Reseal(old, fresh, totpPurpose(u.ID), u.TOTPPending)
		if err := tx.UpdateUser(ctx, u); err != nil {
			return false, err
		}
	}
	return RekeyAudit(ctx, tx, old, fresh, now)
}

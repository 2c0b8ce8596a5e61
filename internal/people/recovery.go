package people

import (
	"context"
	"crypto/rand"
	"strings"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people/peopledb"
)

// Recovery codes are ten, of 80 random bits each, so that a digest that leaks
// can't be searched for its code.
const (
	recoveryCodes    = 10
	recoveryLength   = 16
	recoveryAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	authenticatorLen = 6
)

func newRecoveryCode() string {
	random := make([]byte, recoveryLength)
	rand.Read(random) // never returns an error
	for i, b := range random {
		random[i] = recoveryAlphabet[b%32]
	}
	text := string(random)
	return strings.Join([]string{text[:4], text[4:8], text[8:12], text[12:]}, "-")
}

// foldRecoveryCode takes out what people add when they type one.
func foldRecoveryCode(code string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(strings.ToLower(code)), ""), "-", "")
}

// replaceRecoveryCodes creates new codes for a user, in place of all earlier ones.
func (p *People) replaceRecoveryCodes(ctx context.Context, tx *peopledb.DB, user int64) ([]string, error) {
	if err := tx.DeleteRecoveryCodes(ctx, user); err != nil {
		return nil, err
	}
	codes := make([]string, recoveryCodes)
	for i := range codes {
		codes[i] = newRecoveryCode()
		if err := tx.AddRecoveryCode(ctx, user, digestOf(foldRecoveryCode(codes[i]))); err != nil {
			return nil, err
		}
	}
	return codes, nil
}

// NewRecoveryCodes replaces the recovery codes, after the password.
func (p *People) NewRecoveryCodes(ctx context.Context, a Actor, password string) ([]string, error) {
	var codes []string
	_, err := p.withPassword(ctx, a, password, func(tx *peopledb.DB, u *peopledb.User) (err error) {
		if u.TOTP == nil {
			return errTOTPOff
		}
		if codes, err = p.replaceRecoveryCodes(ctx, tx, u.ID); err != nil {
			return err
		}
		return p.record(ctx, tx, a, Event{Action: actionRecoveryCodesReplace, Subject: u.Email})
	})
	if err != nil {
		return nil, err
	}
	return codes, nil
}

var errTOTPOff = fault.Conflict("totp_off", "Two-step sign-in is off; turn it on first")

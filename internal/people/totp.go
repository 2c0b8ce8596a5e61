package people

import (
	"context"
	"crypto/subtle"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/pquerna/otp/totp"
)

// TOTPSetup is what an authenticator app needs to know. It is shown once, to the
// user alone.
type TOTPSetup struct {
	// Secret is the base32 text for typing.
	Secret string
	// URI is the otpauth: address for a QR code.
	URI string
}

// totpPeriod is how long a code is shown; the ones before and after count too,
// for clocks that differ.
const totpPeriod = 30 * time.Second

var errNotBegun = fault.Conflict("totp_not_begun", "No secret to confirm. Start again with a new one")

// BeginTOTP returns a new secret for two-step sign-in, which ConfirmTOTP turns on.
// issuer is the name that the app shows. It checks the password, because whoever
// controls the second factor can lock the owner out. The errors are totp_on (conflict)
// and those of [People.CheckPassword].
func (p *People) BeginTOTP(ctx context.Context, a Actor, password, issuer string) (TOTPSetup, error) {
	box, err := p.openBox()
	if err := errors.Join(may(a, ownAccount), err); err != nil {
		return TOTPSetup{}, err
	}
	key, err := totp.Generate(totp.GenerateOpts{Issuer: issuer, AccountName: a.ID})
	if err != nil {
		return TOTPSetup{}, err
	}
	_, err = p.withPassword(ctx, a, password, func(_ *peopledb.DB, u *peopledb.User) error {
		if u.TOTP != nil {
			return fault.Conflict("totp_on", "Two-step sign-in is already on. To move it to another app, turn it off first")
		}
		u.TOTPPending = box.Seal(totpPurpose(u.ID), []byte(key.Secret()))
		return nil
	})
	if err != nil {
		return TOTPSetup{}, err
	}
	return TOTPSetup{Secret: key.Secret(), URI: key.URL()}, nil
}

// ConfirmTOTP turns two-step sign-in on, ends the user's sessions but keep, and
// returns the recovery codes: each signs in once in place of a code. They are never
// shown again. The user it returns has a new Generation, which a renewed session must
// be saved with. The errors are code_refused (unauthorized), totp_not_begun (conflict)
// and rate_limited.
func (p *People) ConfirmTOTP(ctx context.Context, a Actor, keep SessionID, code string) (after User, recovery []string, err error) {
	if err := may(a, ownAccount); err != nil {
		return User{}, nil, err
	}
	attempt, err := try(limitKey{p.limits.code, userKey(a.User)})
	if err != nil {
		return User{}, nil, err
	}
	var u peopledb.User
	err = p.db.Tx(ctx, func(tx *peopledb.DB) error {
		if u, err = tx.LockUser(ctx, a.User); err != nil {
			return sqldb.IfNotFound(err, errUserGone)
		}
		if u.TOTPPending == nil {
			return errNotBegun
		}
		step, err := p.step(u, u.TOTPPending, code)
		if err != nil {
			return err
		}
		u.TOTPStep, u.TOTP, u.TOTPPending = step, u.TOTPPending, nil
		ended, err := p.endOthers(ctx, tx, &u, keep)
		if err != nil {
			return err
		}
		if err := tx.UpdateUser(ctx, u); err != nil {
			return err
		}
		if recovery, err = p.replaceRecoveryCodes(ctx, tx, u.ID); err != nil {
			return err
		}
		return p.record(ctx, tx, a, Event{Action: actionTOTPEnable, Subject: u.Email, Detail: endedText(ended), Before: "off", After: "on"})
	})
	attempt.ended(errors.Is(err, errCodeRefused))
	if err != nil {
		return User{}, nil, err
	}
	u.RecoveryCodes = recoveryCodes
	return userOf(u), recovery, nil
}

// DisableTOTP turns two-step sign-in off, after the password, and ends the user's
// sessions but keep. The user it returns has a new Generation, as that of
// [People.ConfirmTOTP].
func (p *People) DisableTOTP(ctx context.Context, a Actor, keep SessionID, password string) (User, error) {
	u, err := p.withPassword(ctx, a, password, func(tx *peopledb.DB, u *peopledb.User) error {
		if u.TOTP == nil {
			return errTOTPOff
		}
		if err := p.removeTOTP(ctx, tx, u); err != nil {
			return err
		}
		ended, err := p.endOthers(ctx, tx, u, keep)
		if err != nil {
			return err
		}
		return p.record(ctx, tx, a, Event{Action: actionTOTPDisable, Subject: u.Email, Detail: endedText(ended), Before: "on", After: "off"})
	})
	u.RecoveryCodes = 0
	return userOf(u), err
}

// removeTOTP ends two-step sign-in of u, which the caller writes. The last step
// stays, so that no code is ever good twice.
func (p *People) removeTOTP(ctx context.Context, tx *peopledb.DB, u *peopledb.User) error {
	u.TOTP = nil
	return tx.DeleteRecoveryCodes(ctx, u.ID)
}

// step finds the time step whose code this is; one that was used, or an earlier
// one, is refused.
func (p *People) step(u peopledb.User, sealed []byte, code string) (int64, error) {
	box, err := p.openBox()
	if err != nil {
		return 0, err
	}
	secret, err := box.Open(totpPurpose(u.ID), sealed)
	if err != nil {
		return 0, fault.Conflict("totp_unreadable", "The authenticator app's secret was encrypted with an earlier key file and can't be read; "+
			"use a recovery code, or have the operator remove two-step sign-in")
	}
	entered := []byte(strings.Join(strings.Fields(code), ""))
	for _, shift := range []time.Duration{0, -totpPeriod, totpPeriod} {
		at := p.now().Add(shift)
		want, err := totp.GenerateCode(string(secret), at)
		if err != nil {
			return 0, err
		}
		step := at.Unix() / int64(totpPeriod/time.Second)
		if subtle.ConstantTimeCompare(entered, []byte(want)) == 1 && step > u.TOTPStep {
			return step, nil
		}
	}
	return 0, errCodeRefused
}

// totpPurpose binds a sealed secret to its user.
func totpPurpose(user int64) string { return "totp " + strconv.FormatInt(user, 10) }

var errCodeRefused = fault.Unauthorized("code_refused", "Wrong code, or already used. Wait for the next one, or use a recovery code")

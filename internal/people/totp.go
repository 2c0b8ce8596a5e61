package people

import "context"

// TOTPSetup is what an authenticator app needs to know. It is shown once, to the
// user alone.
type TOTPSetup struct {
	// Secret is the base32 text for typing.
	Secret string
	// URI is the otpauth: address for a QR code.
	URI string
}

// BeginTOTP makes a secret for two-step sign-in, which begins when ConfirmTOTP
// has seen a code made with it. issuer is the name that the app shows. It is a
// conflict (totp_on) when two-step sign-in is on.
func (p *People) BeginTOTP(ctx context.Context, a Actor, issuer string) (TOTPSetup, error) {
	return TOTPSetup{}, errNotBuilt
}

// ConfirmTOTP turns two-step sign-in on, and returns the recovery codes: each
// signs in once in place of a code. They are never shown again. The errors are
// code_refused (unauthorized), totp_not_begun (conflict) and rate_limited.
func (p *People) ConfirmTOTP(ctx context.Context, a Actor, code string) (recovery []string, err error) {
	return nil, errNotBuilt
}

// DisableTOTP turns two-step sign-in off, after the password.
func (p *People) DisableTOTP(ctx context.Context, a Actor, password string) error {
	return errNotBuilt
}

// NewRecoveryCodes replaces the recovery codes, after the password.
func (p *People) NewRecoveryCodes(ctx context.Context, a Actor, password string) ([]string, error) {
	return nil, errNotBuilt
}

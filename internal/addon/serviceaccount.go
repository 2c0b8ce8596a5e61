package addon

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/people"
)

// ServiceAccountFacts is what may be told of a service account. The file itself
// is never shown again.
type ServiceAccountFacts struct {
	// Set tells whether there is one.
	Set         bool
	Type        string // service_account
	ClientEmail string
	Project     string
	// Fingerprint is the beginning of the SHA-256 of its public key, in hex.
	Fingerprint string
	SetAt       time.Time
}

// ServiceAccount tells what is known of the draft's service account and of the
// published one.
func (a *Addon) ServiceAccount(ctx context.Context, actor people.Actor) (draft, published ServiceAccountFacts, err error) {
	return ServiceAccountFacts{}, ServiceAccountFacts{}, errNotBuilt
}

// SetServiceAccount puts a service-account file into the draft, encrypted. What
// is no such file is invalid with a message that names what it is instead.
func (a *Addon) SetServiceAccount(ctx context.Context, actor people.Actor, revision int64, file []byte) (ServiceAccountFacts, error) {
	return ServiceAccountFacts{}, errNotBuilt
}

// RemoveServiceAccount takes it out of the draft.
func (a *Addon) RemoveServiceAccount(ctx context.Context, actor people.Actor, revision int64) error {
	return errNotBuilt
}

// FileCheck is one line of what was found in a file that is offered as a service
// account.
type FileCheck struct {
	OK   bool
	Text string
}

// CheckServiceAccount says, line by line, what is right and wrong with a file. It
// writes nothing.
func CheckServiceAccount(file []byte) (checks []FileCheck, ok bool) { return nil, false }

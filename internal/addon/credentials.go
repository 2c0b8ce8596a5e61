package addon

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/people"
)

// Credential is a pair of API key and API secret, as lists show it.
type Credential struct {
	ID    int64
	Label string
	// Key and Secret are masked: their ends only.
	Key, Secret             string
	KeyActive, SecretActive bool
	CreatedAt               time.Time
	RotatedAt               time.Time // zero: never
	LastUsedAt              time.Time // zero: never
	LastUsedFrom            string
	UsedCount               int64
}

// Active tells whether both halves are.
func (c Credential) Active() bool { return c.KeyActive && c.SecretActive }

// Pair is the values of a credential. It goes to whoever asked for it and nowhere
// else.
type Pair struct{ Key, Secret string }

// Half names the halves of a credential.
type Half string

// The halves.
const (
	HalfKey    Half = "key"
	HalfSecret Half = "secret"
	HalfBoth   Half = "both"
)

// Credentials lists all by id.
func (a *Addon) Credentials(ctx context.Context, actor people.Actor) ([]Credential, error) {
	return nil, errNotBuilt
}

// Credential reads one. Its error is of kind NotFound.
func (a *Addon) Credential(ctx context.Context, actor people.Actor, id int64) (Credential, error) {
	return Credential{}, errNotBuilt
}

// CreateCredential makes a pair, both halves active. A taken label is a conflict
// (label_exists), a wrong one invalid with Fields "label".
func (a *Addon) CreateCredential(ctx context.Context, actor people.Actor, label string) (Credential, Pair, error) {
	return Credential{}, Pair{}, errNotBuilt
}

// RevealCredential shows the values of a pair again, and writes that down. A page
// asks for the password first (people.CheckPassword).
func (a *Addon) RevealCredential(ctx context.Context, actor people.Actor, id int64) (Credential, Pair, error) {
	return Credential{}, Pair{}, errNotBuilt
}

// RotateCredential gives a pair new values; the old ones end at once. The switches
// stay as they are.
func (a *Addon) RotateCredential(ctx context.Context, actor people.Actor, id int64) (Credential, Pair, error) {
	return Credential{}, Pair{}, errNotBuilt
}

// SetCredentialActive switches one half of a pair, or both. A call with a pair
// needs both.
func (a *Addon) SetCredentialActive(ctx context.Context, actor people.Actor, id int64, half Half, on bool) (Credential, error) {
	return Credential{}, errNotBuilt
}

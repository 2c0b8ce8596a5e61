package addon

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/people"
)

// SetupFile is the name of the file in the data folder that holds the token of
// the last set-up link, readable by its owner alone.
const SetupFile = "setup-token"

// NewSetupLink makes the token by which the first administrator is made, good for
// 24 hours, and writes it to [SetupFile]; earlier ones end. Before the first update
// it lives in that file alone, and the update takes it over. It is a conflict
// (already_set_up) when there is an administrator.
func (a *Addon) NewSetupLink(ctx context.Context, actor people.Actor) (token string, expires time.Time, err error) {
	return "", time.Time{}, errNotBuilt
}

// CheckSetupLink tells whether a set-up token is good, before and after the first
// update. It does not use it up.
func (a *Addon) CheckSetupLink(ctx context.Context, token string) error { return errNotBuilt }

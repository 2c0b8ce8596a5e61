package addon

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/people"
)

// NewWebToken makes the one-time token for the header X-Update-Token of
// update.php, good for an hour; an earlier one ends. Its digest lies in a file
// of the data folder, so that it works before there are tables.
func (a *Addon) NewWebToken(ctx context.Context, actor people.Actor) (token string, expires time.Time, err error) {
	return "", time.Time{}, errNotBuilt
}

// CheckWebToken tells whether a token is good, without using it up: for GET. Its
// error is of kind Forbidden.
func (a *Addon) CheckWebToken(ctx context.Context, token string) error { return errNotBuilt }

// UseWebToken uses a token up: for POST. Of two who use it at once, one gets an
// error of kind Forbidden.
func (a *Addon) UseWebToken(ctx context.Context, token string) error { return errNotBuilt }

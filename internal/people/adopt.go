package people

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

// NewLinkToken makes a token for a set-up link that has no database to be kept in
// yet; [People.AdoptSetupLink] takes it over later.
func NewLinkToken() string { return rand.Text() }

// AdoptSetupLink makes a token that was made without a database a set-up link
// until it expires, in the caller's transaction; earlier ones end. Where there is
// an administrator, it does nothing.
func (p *People) AdoptSetupLink(ctx context.Context, tx *peopledb.DB, token string, expires time.Time) error {
	if n, err := tx.CountUsers(ctx); err != nil || n > 0 {
		return err
	}
	if err := tx.DeleteLinks(ctx, peopledb.PurposeSetup); err != nil {
		return err
	}
	return tx.AddLink(ctx, peopledb.Link{Digest: digestOf(token), Purpose: peopledb.PurposeSetup, ExpiresAt: sqldb.Time{Time: expires}})
}

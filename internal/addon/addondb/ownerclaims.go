package addondb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// OwnerClaim is a user's claim to a purchase without an owner, about which the site decides.
type OwnerClaim struct {
	PurchaseID int64
	UserID     string
	Refused    bool
	ClaimedAt  sqldb.Time
}

func scanOwnerClaim(r sqldb.Row) (c OwnerClaim, err error) {
	err = r.Scan(&c.PurchaseID, &c.UserID, &c.Refused, &c.ClaimedAt)
	return c, err
}

const selectOwnerClaims = `SELECT purchase_id, user_id, refused, claimed_at FROM owner_claims `

// AddOwnerClaim writes one, and reports whether there was none of the user.
func (d *DB) AddOwnerClaim(ctx context.Context, c OwnerClaim) (bool, error) {
	added, err := d.Exec(ctx, `INSERT INTO owner_claims (purchase_id, user_id, refused, claimed_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (purchase_id, user_id) DO NOTHING`, c.PurchaseID, c.UserID, c.Refused, c.ClaimedAt)
	return added > 0, err
}

// OwnerClaim reads that of a user, or returns [sqldb.ErrNotFound].
func (d *DB) OwnerClaim(ctx context.Context, purchase int64, user string) (OwnerClaim, error) {
	return sqldb.One(ctx, d.Queries, scanOwnerClaim, selectOwnerClaims+`WHERE purchase_id = $1 AND user_id = $2`, purchase, user)
}

// OwnerClaims lists those of a purchase, the oldest first.
func (d *DB) OwnerClaims(ctx context.Context, purchase int64) ([]OwnerClaim, error) {
	return sqldb.List(ctx, d.Queries, scanOwnerClaim, selectOwnerClaims+`WHERE purchase_id = $1 ORDER BY claimed_at, user_id`, purchase)
}

// ClaimedEnvironments lists the environments of the purchases that wait for a decision about a user.
func (d *DB) ClaimedEnvironments(ctx context.Context, user string) ([]string, error) {
	return sqldb.List(ctx, d.Queries, sqldb.Value[string], `SELECT p.environment FROM owner_claims c JOIN purchases p ON p.id = c.purchase_id
		WHERE c.user_id = $1 AND NOT c.refused ORDER BY p.id`, user)
}

// RefuseOwnerClaim refuses that of a user, and reports whether it was open.
func (d *DB) RefuseOwnerClaim(ctx context.Context, purchase int64, user string) (bool, error) {
	changed, err := d.Exec(ctx, `UPDATE owner_claims SET refused = TRUE WHERE purchase_id = $1 AND user_id = $2 AND NOT refused`, purchase, user)
	return changed > 0, err
}

// DeleteOwnerClaims deletes those of a purchase.
func (d *DB) DeleteOwnerClaims(ctx context.Context, purchase int64) error {
	return d.Run(ctx, `DELETE FROM owner_claims WHERE purchase_id = $1`, purchase)
}

// DeleteOwnerClaimsOf deletes those of a user.
func (d *DB) DeleteOwnerClaimsOf(ctx context.Context, user string) error {
	return d.Run(ctx, `DELETE FROM owner_claims WHERE user_id = $1`, user)
}

// MoveOwnerClaims makes those of a user another one's.
func (d *DB) MoveOwnerClaims(ctx context.Context, from, to string) error {
	err := d.Run(ctx, `UPDATE owner_claims SET user_id = $2 WHERE user_id = $1
		AND purchase_id NOT IN (SELECT purchase_id FROM owner_claims WHERE user_id = $2)`, from, to)
	if err != nil {
		return err
	}
	return d.DeleteOwnerClaimsOf(ctx, from)
}

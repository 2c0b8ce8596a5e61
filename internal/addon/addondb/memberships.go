package addondb

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/internal/sqldb"
)

// Membership is what a user has.
type Membership struct {
	UserID    string
	Status    string
	PackageID int64
	ProductID string
	// PurchaseID is the purchase that the user manages at the store, 0 for none.
	PurchaseID  int64
	Source      string // store, grant, "" for none
	SourceID    int64
	Environment string
	Since       sqldb.Time
	Until       sqldb.Time // zero: no end
	WillRenew   bool
	Action      string
	Unverified  bool
	Version     int64
	UpdatedAt   sqldb.Time
	// PackageName is the package's present name, Application that of the purchase, and OneTime what kind the purchase is;
	// they are read only.
	PackageName, Application string
	OneTime                  bool
}

const membershipColumns = `user_id, status, package_id, product_id, purchase_id, source, source_id, environment, since, until, will_renew, action, unverified, version, updated_at`

const selectMemberships = `SELECT m.user_id, m.status, m.package_id, m.product_id, m.purchase_id, m.source, m.source_id, m.environment, m.since, m.until, m.will_renew,
		m.action, m.unverified, m.version, m.updated_at, coalesce(k.name, ''), coalesce(p.application, ''), coalesce(p.one_time, false)
	FROM memberships m LEFT JOIN packages k ON k.id = m.package_id LEFT JOIN purchases p ON p.id = m.purchase_id `

func scanMembership(r sqldb.Row) (m Membership, err error) {
	err = r.Scan(&m.UserID, &m.Status, &m.PackageID, &m.ProductID, &m.PurchaseID, &m.Source, &m.SourceID, &m.Environment, &m.Since, &m.Until, &m.WillRenew,
		&m.Action, &m.Unverified, &m.Version, &m.UpdatedAt, &m.PackageName, &m.Application, &m.OneTime)
	return m, err
}

// Membership reads a user's, or returns [sqldb.ErrNotFound].
func (d *DB) Membership(ctx context.Context, user string) (Membership, error) {
	return sqldb.One(ctx, d.Queries, scanMembership, selectMemberships+`WHERE m.user_id = $1`, user)
}

// LockMemberships makes others who would change the memberships of users, which are sorted, wait until the
// transaction ends. A user without one gets one without a package, of version 0.
func (d *DB) LockMemberships(ctx context.Context, at sqldb.Time, users ...string) error {
	for _, user := range users {
		// DO NOTHING would not wait for a transaction that deletes the row.
		err := d.Run(ctx, `INSERT INTO memberships (`+membershipColumns+`) VALUES ($1, 'none', 0, '', 0, '', 0, '', NULL, NULL, $2, '', $2, 0, $3)
			ON CONFLICT (user_id) DO UPDATE SET version = memberships.version`, user, false, at)
		if err != nil {
			return err
		}
	}
	return nil
}

// UpdateMembership writes everything but the user.
func (d *DB) UpdateMembership(ctx context.Context, m Membership) error {
	if err := d.Mark(ctx, TopicMemberships, m.UserID); err != nil {
		return err
	}
	return d.Run(ctx, `UPDATE memberships SET status = $1, package_id = $2, product_id = $3, source = $4, source_id = $5, environment = $6,
		since = $7, until = $8, will_renew = $9, action = $10, unverified = $11, version = $12, updated_at = $13, purchase_id = $14 WHERE user_id = $15`,
		m.Status, m.PackageID, m.ProductID, m.Source, m.SourceID, m.Environment, m.Since, m.Until, m.WillRenew, m.Action, m.Unverified,
		m.Version, m.UpdatedAt, m.PurchaseID, m.UserID)
}

// DeleteMembership deletes a user's.
func (d *DB) DeleteMembership(ctx context.Context, user string) error {
	if err := d.Mark(ctx, TopicMemberships, user); err != nil {
		return err
	}
	return d.Run(ctx, `DELETE FROM memberships WHERE user_id = $1`, user)
}

// Members lists users with a membership, also one without a package, after a user.
func (d *DB) Members(ctx context.Context, after string, limit int) ([]string, error) {
	return sqldb.List(ctx, d.Queries, sqldb.Value[string], `SELECT user_id FROM memberships WHERE user_id > $1 ORDER BY user_id LIMIT $2`, after, limit)
}

// MembershipPlace is a place in the list of memberships by their last change.
type MembershipPlace struct {
	UpdatedAt sqldb.Time
	UserID    string
}

// MembershipsBefore lists those that changed before a place, the newest change first; the zero
// place is the beginning. status is "" for all.
func (d *DB) MembershipsBefore(ctx context.Context, status string, place MembershipPlace, limit int) ([]Membership, error) {
	const order = ` ORDER BY m.updated_at DESC, m.user_id DESC LIMIT $1`
	if place.UpdatedAt.IsZero() {
		return d.memberships(ctx, `WHERE true`, status, order, limit)
	}
	return d.memberships(ctx, `WHERE (m.updated_at, m.user_id) < ($2, $3)`, status, order, limit, place.UpdatedAt, place.UserID)
}

// MembershipsAfter lists those that changed after a place, the oldest change first.
func (d *DB) MembershipsAfter(ctx context.Context, status string, place MembershipPlace, limit int) ([]Membership, error) {
	return d.memberships(ctx, `WHERE (m.updated_at, m.user_id) > ($2, $3)`, status, ` ORDER BY m.updated_at, m.user_id LIMIT $1`,
		limit, place.UpdatedAt, place.UserID)
}

func (d *DB) memberships(ctx context.Context, where, status, order string, args ...any) ([]Membership, error) {
	if status != "" {
		args = append(args, status)
		where += fmt.Sprintf(` AND m.status = $%d`, len(args))
	}
	return sqldb.List(ctx, d.Queries, scanMembership, selectMemberships+where+order, args...)
}

// CountMemberships counts those of a status, "" for all.
func (d *DB) CountMemberships(ctx context.Context, status string) (int64, error) {
	if status == "" {
		return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `SELECT count(*) FROM memberships`)
	}
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `SELECT count(*) FROM memberships WHERE status = $1`, status)
}

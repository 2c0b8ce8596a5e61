package addondb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// Package is a membership package that members can have.
type Package struct {
	ID   int64
	Name string
	// Rank orders packages: a higher one includes more.
	Rank int64
	Paid bool
}

const selectPackages = `SELECT id, name, rank, paid FROM packages `

func scanPackage(r sqldb.Row) (p Package, err error) {
	err = r.Scan(&p.ID, &p.Name, &p.Rank, &p.Paid)
	return p, err
}

// Packages lists all by id.
func (d *DB) Packages(ctx context.Context) ([]Package, error) {
	return sqldb.List(ctx, d.Queries, scanPackage, selectPackages+`ORDER BY id`)
}

// Package reads one.
func (d *DB) Package(ctx context.Context, id int64) (Package, error) {
	return sqldb.One(ctx, d.Queries, scanPackage, selectPackages+`WHERE id = $1`, id)
}

// AddPackage writes a new one; [sqldb.ErrExists] when the id is taken.
func (d *DB) AddPackage(ctx context.Context, p Package) error {
	return d.Change(ctx, TopicServed, `INSERT INTO packages (id, name, rank, paid) VALUES ($1, $2, $3, $4)`, p.ID, p.Name, p.Rank, p.Paid)
}

// UpdatePackage writes everything but the id.
func (d *DB) UpdatePackage(ctx context.Context, p Package) error {
	return d.Change(ctx, TopicServed, `UPDATE packages SET name = $1, rank = $2, paid = $3 WHERE id = $4`, p.Name, p.Rank, p.Paid, p.ID)
}

// DeletePackage takes one away.
func (d *DB) DeletePackage(ctx context.Context, id int64) error {
	return d.Change(ctx, TopicServed, `DELETE FROM packages WHERE id = $1`, id)
}

// PackageMembers counts the purchases and grants of a package that have not ended at a
// time.
func (d *DB) PackageMembers(ctx context.Context, id int64, now sqldb.Time) (int64, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `SELECT
		(SELECT count(DISTINCT p.id) FROM purchases p JOIN purchase_items i ON i.purchase_id = p.id
			WHERE i.package_id = $1 AND p.superseded_by IS NULL AND p.status IN ('pending', 'active', 'grace', 'on_hold', 'paused'))
		+ (SELECT count(*) FROM grants WHERE package_id = $1 AND ended_at IS NULL AND (ends_at IS NULL OR ends_at > $2))`, id, now)
}

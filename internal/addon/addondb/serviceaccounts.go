package addondb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// ServiceAccount is a service-account file, sealed, and what may be told of it.
type ServiceAccount struct {
	ID          int64
	ClientEmail string
	Project     string
	Fingerprint string
	Sealed      []byte
	SetAt       sqldb.Time
}

const selectServiceAccounts = `SELECT id, client_email, project, fingerprint, sealed, set_at FROM service_accounts `

func scanServiceAccount(r sqldb.Row) (s ServiceAccount, err error) {
	err = r.Scan(&s.ID, &s.ClientEmail, &s.Project, &s.Fingerprint, &s.Sealed, &s.SetAt)
	return s, err
}

// ServiceAccounts lists all that were ever set; versions name them by id.
func (d *DB) ServiceAccounts(ctx context.Context) ([]ServiceAccount, error) {
	return sqldb.List(ctx, d.Queries, scanServiceAccount, selectServiceAccounts+`ORDER BY id`)
}

// AddServiceAccount writes one and returns its id.
func (d *DB) AddServiceAccount(ctx context.Context, s ServiceAccount) (int64, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `INSERT INTO service_accounts (client_email, project, fingerprint, sealed, set_at)
		VALUES ($1, $2, $3, $4, $5) RETURNING id`, s.ClientEmail, s.Project, s.Fingerprint, s.Sealed, s.SetAt)
}

// SetSealedAccount replaces the sealed file of one; an empty one is a file that is lost.
func (d *DB) SetSealedAccount(ctx context.Context, id int64, sealed []byte) error {
	if err := d.Mark(ctx, TopicServed, ""); err != nil {
		return err
	}
	return d.Run(ctx, `UPDATE service_accounts SET sealed = $1 WHERE id = $2`, sealed, id)
}

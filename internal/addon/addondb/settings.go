package addondb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// Definition is a setting as the update script registered it.
type Definition struct {
	Name         string
	Kind         string
	Secret       bool
	Fallback     string
	RegisteredAt sqldb.Time
}

// Definitions lists what is registered, by name.
func (d *DB) Definitions(ctx context.Context) ([]Definition, error) {
	return sqldb.List(ctx, d.Queries, func(r sqldb.Row) (x Definition, err error) {
		err = r.Scan(&x.Name, &x.Kind, &x.Secret, &x.Fallback, &x.RegisteredAt)
		return x, err
	}, `SELECT name, kind, secret, fallback, registered_at FROM definitions ORDER BY name`)
}

// PutDefinition registers one, or changes what is registered under its name.
func (d *DB) PutDefinition(ctx context.Context, x Definition) error {
	return d.Run(ctx, `INSERT INTO definitions (name, kind, secret, fallback, registered_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, secret = excluded.secret, fallback = excluded.fallback`,
		x.Name, x.Kind, x.Secret, x.Fallback, x.RegisteredAt)
}

// Setting is one value of the draft, or of a version: as text, and of which kind
// it is.
type Setting struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// Settings lists the draft by name.
func (d *DB) Settings(ctx context.Context) ([]Setting, error) {
	return sqldb.List(ctx, d.Queries, func(r sqldb.Row) (s Setting, err error) {
		err = r.Scan(&s.Name, &s.Kind, &s.Value)
		return s, err
	}, `SELECT name, kind, value FROM settings ORDER BY name`)
}

// PutSetting writes one value of the draft.
func (d *DB) PutSetting(ctx context.Context, s Setting) error {
	return d.Run(ctx, `INSERT INTO settings (name, kind, value) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, value = excluded.value`, s.Name, s.Kind, s.Value)
}

// DeleteSetting takes one out of the draft.
func (d *DB) DeleteSetting(ctx context.Context, name string) error {
	return d.Run(ctx, `DELETE FROM settings WHERE name = $1`, name)
}

// Revision is the number of changes that the draft has seen.
func (d *DB) Revision(ctx context.Context) (int64, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `SELECT revision FROM draft WHERE id = 1`)
}

// LockDraft makes others who would change the draft or publish it wait until the
// transaction ends. It returns the revision.
func (d *DB) LockDraft(ctx context.Context) (int64, error) {
	if err := d.Lock(ctx, "draft", "id", 1); err != nil {
		return 0, err
	}
	return d.Revision(ctx)
}

// MakeDraft creates the draft if it does not exist yet.
func (d *DB) MakeDraft(ctx context.Context) error {
	return d.Run(ctx, `INSERT INTO draft (id, revision) VALUES (1, 1) ON CONFLICT (id) DO NOTHING`)
}

// RaiseRevision counts a change of the draft.
func (d *DB) RaiseRevision(ctx context.Context) error {
	return d.Run(ctx, `UPDATE draft SET revision = revision + 1 WHERE id = 1`)
}

package sqldb

import (
	"context"
	"errors"
)

// Meta reads a named value of the database, "" when there is none.
func (q Queries) Meta(ctx context.Context, name string) (string, error) {
	values, err := List(ctx, q, Value[string], `SELECT value FROM meta WHERE name = $1`, name)
	if err != nil || len(values) == 0 {
		return "", err
	}
	return values[0], nil
}

// SetMeta writes a named value.
func (q Queries) SetMeta(ctx context.Context, name, value string) error {
	_, err := q.Exec(ctx, `INSERT INTO meta (name, value) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, name, value)
	return err
}

// LockMeta reads a named value and locks it until the transaction ends.
func (q Queries) LockMeta(ctx context.Context, name string) (string, error) {
	return Locked(ctx, q, "meta", "name", name, q.Meta)
}

// LockSharedMeta reads a named value that others share ([Queries.ShareMeta]), and locks it until
// the transaction ends. Those who ask for it later wait in turn, so it does not wait for them.
func (q Queries) LockSharedMeta(ctx context.Context, name string) (string, error) {
	if q.db.engine == Postgres { // a lock of the row would wait for as long as there is always one who shares it
		if _, err := q.Exec(ctx, `LOCK TABLE meta IN EXCLUSIVE MODE`); err != nil {
			return "", err
		}
	}
	return q.Meta(ctx, name)
}

// ShareMeta reads a named value and keeps it as it is until the transaction ends. Others who
// do the same don't wait; those who lock or write it do.
func (q Queries) ShareMeta(ctx context.Context, name string) (string, error) {
	if q.db.engine == SQLite { // nobody else writes while a transaction runs
		return q.Meta(ctx, name)
	}
	value, err := One(ctx, q, Value[string], `SELECT value FROM meta WHERE name = $1 FOR SHARE`, name)
	if errors.Is(err, ErrNotFound) {
		return "", nil
	}
	return value, err
}

package addondb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// Version is a state of the settings that was published.
type Version struct {
	Number      int64
	PublishedAt sqldb.Time
	ActorKind   string
	Actor       string
	FrontEnd    string
	Note        string
	// Restored is the version that was brought back, 0 for none.
	Restored int64
	Settings sqldb.JSON[[]Setting]
	// Body is the public settings as the apps receive them.
	Body string
}

const selectVersions = `SELECT number, published_at, actor_kind, actor, face, note, restored, settings, body FROM versions `

func scanVersion(r sqldb.Row) (v Version, err error) {
	err = r.Scan(&v.Number, &v.PublishedAt, &v.ActorKind, &v.Actor, &v.FrontEnd, &v.Note, &v.Restored, &v.Settings, &v.Body)
	return v, err
}

// Versions lists versions before a number, newest first; 0 for from the newest on.
func (d *DB) Versions(ctx context.Context, before int64, limit int) ([]Version, error) {
	return sqldb.List(ctx, d.Queries, scanVersion, selectVersions+`WHERE $1 = 0 OR number < $1 ORDER BY number DESC LIMIT $2`, before, limit)
}

// Version reads one.
func (d *DB) Version(ctx context.Context, number int64) (Version, error) {
	return sqldb.One(ctx, d.Queries, scanVersion, selectVersions+`WHERE number = $1`, number)
}

// LastVersion reads what is published; [sqldb.ErrNotFound] before the first update.
func (d *DB) LastVersion(ctx context.Context) (Version, error) {
	return sqldb.One(ctx, d.Queries, scanVersion, selectVersions+`ORDER BY number DESC LIMIT 1`)
}

// AddVersion publishes one.
func (d *DB) AddVersion(ctx context.Context, v Version) error {
	return d.Change(ctx, TopicServed, `INSERT INTO versions (number, published_at, actor_kind, actor, face, note, restored, settings, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		v.Number, v.PublishedAt, v.ActorKind, v.Actor, v.FrontEnd, v.Note, v.Restored, v.Settings, v.Body)
}

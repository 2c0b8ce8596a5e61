package sqldb

import (
	"log/slog"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/jackc/pgx/v5"
)

func TestAPoolerInTransactionModeIsNamed(t *testing.T) {
	at := dbtest.New(t, dbtest.Postgres)
	migrated(t, at)
	db := open(t, Options{URL: dbtest.NewPooler(t, at, "transaction"), Schemas: []Schema{twoSteps()}})
	for range 2 {
		_, err := db.State(t.Context())
		wantCode(t, err, CodePooler)
		wantCode(t, db.Tx(t.Context(), func(Queries) error { return nil }), CodePooler)
	}
}

func TestAPoolerInSessionModeServes(t *testing.T) {
	at := dbtest.New(t, dbtest.Postgres)
	migrated(t, at)
	db := open(t, Options{URL: dbtest.NewPooler(t, at, "session"), Schemas: []Schema{twoSteps()}})
	events := feed(t, db)
	other := open(t, optionsOf(at, twoSteps()))
	mark(t, other, "one")
	awaitEvent(t, events, "changed notes one")
	mark(t, db, "two")
	awaitEvent(t, events, "changed notes two")
}

// A server that takes no writes any more is left while a connection to it is made.
func TestAPoolerIsLookedAtWhileNoPrimaryIsKnown(t *testing.T) {
	at := dbtest.New(t, dbtest.Postgres)
	config := must.Get(postgresConfig(dbtest.NewPooler(t, at, "session")))(t)
	p := newPrimary(config, slog.New(slog.DiscardHandler))
	defer p.close()
	p.host.Store(nil)
	conn := must.Get(pgx.ConnectConfig(t.Context(), config))(t)
	defer conn.Close(t.Context())
	expect.NoError(t, p.checkPooler(t.Context(), conn))
}

// A pooler that is not recognised, or that comes between later, is never trusted.
func TestNoFeedIsLiveBehindAPoolerInTransactionMode(t *testing.T) {
	t.Parallel()
	at := dbtest.New(t, dbtest.Postgres)
	migrated(t, at)
	db := open(t, Options{URL: dbtest.NewPooler(t, at, "transaction"), Schemas: []Schema{twoSteps()}})
	db.primary.direct.Store(true)
	events := watch(db)
	live, err := db.followPostgres(t.Context())
	if live || err == nil {
		t.Errorf("live %t, %v", live, err)
	}
	select {
	case e := <-events:
		t.Errorf("told %q", e)
	default:
	}
}

package sqldb

import (
	"database/sql"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
)

// useAllConnections takes as many connections as there may be, all at once, and
// gives them back.
func useAllConnections(t *testing.T, db *DB) {
	t.Helper()
	var held []*sql.Conn
	for range readConnections {
		conn := must.Get(db.read.Conn(t.Context()))(t)
		held = append(held, conn)
	}
	for _, conn := range held {
		must.Do(t, conn.Close())
	}
}

func TestABusyTimeKeepsItsConnections(t *testing.T) {
	t.Parallel()
	at := dbtest.New(t, dbtest.Postgres)
	migrated(t, at)
	for name, ready := range map[string]func(*DB){
		"from the start":        func(*DB) {},
		"once the feed is live": func(db *DB) { feed(t, db) },
	} {
		t.Run(name, func(t *testing.T) {
			db := open(t, Options{URL: at.URL, Schemas: []Schema{twoSteps()}})
			ready(db)
			before := db.read.Stats().MaxIdleClosed
			useAllConnections(t, db)
			if s := db.read.Stats(); s.Idle != readConnections || s.MaxIdleClosed != before {
				t.Errorf("%d of %d connections were kept, %d closed", s.Idle, readConnections, s.MaxIdleClosed-before)
			}
		})
	}
}

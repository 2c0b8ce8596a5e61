package backup_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
)

// addPair writes two rows of two tables in one transaction.
func addPair(ctx context.Context, db *sqldb.DB, n int) error {
	return db.Tx(ctx, func(q sqldb.Queries) error {
		if err := q.SetMeta(ctx, fmt.Sprintf("pair-%d", n), "x"); err != nil {
			return err
		}
		return q.Mark(ctx, "pairs", fmt.Sprint(n))
	})
}

func TestABackupIsOfOneMomentWhileOthersWrite(t *testing.T) {
	t.Parallel()
	template.Engines(t, func(t *testing.T, db dbtest.DB) {
		p := at(t, db)
		writer := must.Get(sqldb.Open(t.Context(), p.backups.Database))(t)
		ctx, stop := context.WithCancel(t.Context())
		begun, ended := make(chan struct{}), make(chan int)
		go func() {
			n := 0
			for ; ctx.Err() == nil && addPair(ctx, writer, n) == nil; n++ {
				if n == 0 {
					close(begun)
				}
			}
			ended <- n
		}()
		<-begun
		made, err := p.backups.Create(ctx, writer, backup.CreateOptions{KeyFile: true})
		stop()
		written := <-ended
		must.Do(t, errors.Join(err, writer.Close()))
		target := at(t, dbtest.New(t, db.Engine))
		target.restore(t, made.File)
		first, second := pairs(t, target)
		if first != second || first < 1 || first > written {
			t.Errorf("%d and %d rows of pairs in the backup, of %d written", first, second, written)
		}
	})
}

// pairs counts the rows of pairs in both tables.
func pairs(t testing.TB, p place) (first, second int) {
	t.Helper()
	with(t, p.db, func(context.Context, *store.Store) error { return nil })
	db := must.Get(sqldb.Open(t.Context(), p.backups.Database))(t)
	defer db.Close()
	count := func(query, prefix string) int {
		names := must.Get(sqldb.List(t.Context(), db.Queries(), sqldb.Value[string], query))(t)
		n := 0
		for _, name := range names {
			if strings.HasPrefix(name, prefix) {
				n++
			}
		}
		return n
	}
	return count(`SELECT name FROM meta`, "pair-"), count(`SELECT topic FROM changes`, "pairs")
}

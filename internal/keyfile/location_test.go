package keyfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
)

// place is a vault beside an empty database with tables.
func place(t *testing.T, at dbtest.DB) (*Location, *sqldb.DB) {
	t.Helper()
	db := must.Get(sqldb.Open(t.Context(), sqldb.Options{URL: at.URL, Path: filepath.Join(at.Dir, "x.db")}))(t)
	t.Cleanup(func() { _ = db.Close() })
	must.Do(t, db.Migrate(t.Context()))
	return &Location{Service: Store, Dir: at.Dir}, db
}

func codeOf(err error) string {
	var e *countersign.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func TestNewDatabaseGetsANewKeyFileAndKeepsIt(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		l, db := place(t, at)
		var work sync.WaitGroup
		boxes := make([]*Box, 4)
		for i := range boxes {
			work.Go(func() {
				var err error
				if boxes[i], err = l.Open(t.Context(), db.Queries()); err != nil {
					t.Error(err)
				}
			})
		}
		work.Wait()
		for _, b := range boxes[1:] {
			if !b.Matches(boxes[0].Check()) {
				t.Error("two of them got different keys")
			}
		}
	})
}

func TestOfTwoThatCreateAKeyFileTheSecondTakesThatOfTheFirst(t *testing.T) {
	l := &Location{Dir: t.TempDir()}
	first := must.Get(l.create())(t)
	second, err := l.create()
	if err != nil || !second.Matches(first.Check()) {
		t.Errorf("another key, or %v", err)
	}
}

func TestKeyFileThatDoesNotBelongHere(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		l, db := place(t, at)
		must.Get(l.Open(t.Context(), db.Queries()))(t)
		must.Do(t, os.Remove(l.Path()))
		_, err := l.Open(t.Context(), db.Queries())
		expect.Equalf(t, codeOf(err), "key_missing", "missing: %v", err)
		must.Get(Create(l.Dir))(t)
		if _, err = l.Open(t.Context(), db.Queries()); codeOf(err) != "key_mismatch" {
			t.Errorf("another one: %v", err)
		}
		must.Do(t, os.WriteFile(l.Path(), []byte("nothing"), 0o600))
		if _, err = l.Open(t.Context(), db.Queries()); codeOf(err) != "key_unreadable" {
			t.Errorf("damaged: %v", err)
		}
	})
}

func TestTransactionOfAReplacedKeyFileIsNoticed(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		l, db := place(t, at)
		box := must.Get(l.Open(t.Context(), db.Queries()))(t)
		for _, check := range []string{box.Check(), "another"} {
			err := db.Tx(t.Context(), func(tx sqldb.Queries) error {
				if err := tx.SetMeta(t.Context(), CheckName, check); err != nil {
					return err
				}
				return Same(t.Context(), tx, box)
			})
			if (err == nil) != (check == box.Check()) || err != nil && !errors.Is(err, ErrReplaced) {
				t.Errorf("check %s: %v", check, err)
			}
		}
	})
}

func TestTransactionsThatUseTheKeyFileDoNotWaitForEachOther(t *testing.T) {
	l, db := place(t, dbtest.New(t, dbtest.Postgres))
	box := must.Get(l.Open(t.Context(), db.Queries()))(t)
	uses := func(tx sqldb.Queries) {
		expect.NoError(t, Same(t.Context(), tx, box))
	}
	err := db.Tx(t.Context(), func(one sqldb.Queries) error {
		uses(one)
		return db.Tx(t.Context(), func(other sqldb.Queries) error {
			uses(other)
			_, err := other.Exec(t.Context(), `SELECT 1 FROM meta WHERE name = $1 FOR NO KEY UPDATE NOWAIT`, CheckName)
			return err
		})
	})
	if err == nil {
		t.Error("the check value can be replaced while a transaction uses the key file")
	}
}

func TestAReplacementDoesNotWaitForTransactionsThatBeginLater(t *testing.T) {
	l, db := place(t, dbtest.New(t, dbtest.Postgres))
	box := must.Get(l.Open(t.Context(), db.Queries()))(t)
	use := func(then func() error) error {
		return db.Tx(t.Context(), func(tx sqldb.Queries) error {
			if err := Same(t.Context(), tx, box); err != nil {
				return err
			}
			return then()
		})
	}
	await := func(waiting int64) error {
		for {
			n, err := sqldb.One(t.Context(), db.Queries(), sqldb.Value[int64], `SELECT count(*) FROM pg_locks
				WHERE NOT granted AND relation = 'meta'::regclass`)
			if err != nil || n >= waiting {
				return err
			}
		}
	}
	order := make(chan string, 2)
	replaced, used := make(chan error), make(chan error)
	err := use(func() error {
		go func() {
			replaced <- db.Tx(t.Context(), func(tx sqldb.Queries) error {
				_, err := tx.LockSharedMeta(t.Context(), CheckName)
				order <- "replaced"
				return err
			})
		}()
		if err := await(1); err != nil {
			return err
		}
		go func() {
			used <- use(func() error { order <- "used"; return nil })
		}()
		return await(2)
	})
	must.Do(t, errors.Join(err, <-replaced, <-used))
	if first, second := <-order, <-order; first != "replaced" || second != "used" {
		t.Errorf("first %s, then %s", first, second)
	}
}

// A successor that can't be put in its place is named, with the reason.
func TestSuccessorThatCannotBePlaced(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		l, db := place(t, at)
		staged := must.Get(Stage(l.Dir))(t)
		must.Do(t, db.Queries().SetMeta(t.Context(), CheckName, staged.Check()))
		expect.NoErrorf(t, l.CheckKey(t.Context(), db.Queries()), "before it is placed")
		if err := os.Mkdir(l.Path(), 0o700); err != nil { // in the key file's place
			t.Fatal(err)
		}
		_, err := l.Open(t.Context(), db.Queries())
		if codeOf(err) != "key_not_placed" || !strings.Contains(err.Error(), "could not replace it (not a regular file)") {
			t.Errorf("%v", err)
		}
	})
}

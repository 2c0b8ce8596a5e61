package backup_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
)

// move moves a store. reached is told of its steps.
func move(ctx context.Context, db dbtest.DB, url string, reached func(step string)) (moved backup.Moved, err error) {
	s, err := store.Open(ctx, options(db))
	if err != nil {
		return moved, err
	}
	defer s.Close()
	return s.Instance.Move(ctx, operator, backup.MoveOptions{URL: url, Reached: reached})
}

func noStep(string) {}

// emptyTarget is where a store can be moved: the same data folder, and another database.
func emptyTarget(t testing.TB, from dbtest.DB, engine string) dbtest.DB {
	to := dbtest.DB{Engine: engine, Dir: from.Dir}
	if engine == dbtest.Postgres {
		to.URL = dbtest.New(t, engine).URL
	}
	return to
}

// eachMove runs fn with a filled store and an empty database, from SQLite and from PostgreSQL.
func eachMove(t *testing.T, fn func(t *testing.T, from, to dbtest.DB)) {
	for _, pair := range [][2]string{{dbtest.SQLite, dbtest.Postgres}, {dbtest.Postgres, dbtest.SQLite}} {
		t.Run(pair[0]+" to "+pair[1], func(t *testing.T) {
			t.Parallel()
			from := template.New(t, pair[0])
			fn(t, from, emptyTarget(t, from, pair[1]))
		})
	}
}

// auditOf is the store's audit log, the newest entry first.
func auditOf(t testing.TB, db dbtest.DB) (lines []people.AuditLine) {
	t.Helper()
	with(t, db, func(ctx context.Context, s *store.Store) (err error) {
		lines, err = s.Instance.Audit.Audit(ctx, operator, people.AuditFilter{Limit: 500})
		return err
	})
	return lines
}

func TestAMoveCopiesAllRowsAndChangesNothingElse(t *testing.T) {
	t.Parallel()
	eachMove(t, func(t *testing.T, from, to dbtest.DB) {
		want, log := export(t, from), auditOf(t, from)
		moved := must.Get(move(t.Context(), from, to.URL, noStep))(t)
		if moved.From != sqldb.Engine(from.Engine) || moved.To != sqldb.Engine(to.Engine) || moved.Rows() < 1000 || len(moved.Tables) < 10 {
			t.Errorf("moved %s to %s, %d rows of %d tables", moved.From, moved.To, moved.Rows(), len(moved.Tables))
		}
		if export(t, to) != want || export(t, from) != want {
			t.Error("the two databases export other bytes than before")
		}
		if got := auditOf(t, from); !slices.Equal(got, log) {
			t.Error("the audit log of the database that was read has changed")
		}
		got := auditOf(t, to)
		if len(got) != len(log)+1 || !slices.Equal(got[1:], log) || got[0].Action != "store.move" {
			t.Errorf("the audit log has %d entries, begins with %+v; %d were there before", len(got), got[0], len(log))
		}
		with(t, to, func(ctx context.Context, s *store.Store) error {
			_, err := s.Instance.Chain.Verify(ctx, operator)
			return err
		})
	})
}

func TestAMoveNeedsAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{dbtest.SQLite, dbtest.Postgres} {
		t.Run("onto itself, "+engine, func(t *testing.T) {
			t.Parallel()
			db := template.New(t, engine)
			want := export(t, db)
			_, err := move(t.Context(), db, db.URL, noStep)
			wantCode(t, err, countersign.KindConflict, sqldb.CodeNotEmpty)
			expect.Equalf(t, export(t, db), want, "the store has changed")
		})
	}
	for name, c := range map[string]struct{ statement, code string }{
		"a table of another program": {`CREATE TABLE notes (id bigint)`, sqldb.CodeNotEmpty},
		"a newer version":            {`CREATE TABLE store_versions (id bigint, version_id bigint, is_applied boolean); INSERT INTO store_versions VALUES (1, 100000, true)`, "schema_newer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := dbtest.New(t, dbtest.Postgres)
			db := must.Get(sqldb.Open(t.Context(), sqldb.Options{URL: to.URL}))(t)
			for statement := range strings.SplitSeq(c.statement, "; ") {
				must.Get(db.Queries().Exec(t.Context(), statement))(t)
			}
			must.Do(t, db.Close())
			_, err := move(t.Context(), template.New(t, dbtest.SQLite), to.URL, noStep)
			wantCode(t, err, countersign.KindConflict, c.code)
		})
	}
	t.Run("a log of a file that is gone", func(t *testing.T) {
		t.Parallel()
		from := template.New(t, dbtest.Postgres)
		log := filepath.Join(from.Dir, store.Product.DatabaseName()+"-wal")
		must.Do(t, os.WriteFile(log, []byte("old"), 0o600))
		_, err := move(t.Context(), from, "", noStep)
		wantCode(t, err, countersign.KindConflict, sqldb.CodeNotEmpty)
	})
}

func TestAMoveIntoADatabaseWithoutPermissionSaysWhichIsMissing(t *testing.T) {
	t.Parallel()
	to := dbtest.New(t, dbtest.Postgres)
	db := must.Get(sqldb.Open(t.Context(), sqldb.Options{URL: to.URL}))(t)
	defer db.Close()
	role := filepath.Base(strings.Split(to.URL, "?")[0]) // as unique as the database
	for _, statement := range []string{`CREATE ROLE ` + role, `REVOKE CREATE ON SCHEMA public FROM PUBLIC`} {
		must.Get(db.Queries().Exec(t.Context(), statement))(t)
	}
	defer func() { _, _ = db.Queries().Exec(context.Background(), `DROP ROLE `+role) }()
	separator := "?"
	if strings.Contains(to.URL, "?") {
		separator = "&"
	}
	_, err := move(t.Context(), template.New(t, dbtest.SQLite), to.URL+separator+"options=-c%20role%3D"+role, noStep)
	wantCode(t, err, countersign.KindConflict, sqldb.CodeNoPermission)
	if !strings.Contains(err.Error(), role) {
		t.Errorf("the error %q does not name the user", err)
	}
}

func TestAMoveWhoseDatabaseGoesAwayChangesNothing(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"copied", "verified", "recorded"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			from := template.New(t, dbtest.SQLite)
			want := export(t, from)
			to := emptyTarget(t, from, dbtest.Postgres)
			proxy := dbtest.NewProxy(t, to)
			_, err := move(t.Context(), from, proxy.URL, func(reached string) {
				if reached == step {
					proxy.Cut()
				}
			})
			if code := fault.Of(err); code == nil || code.Kind != countersign.KindUnavailable {
				t.Errorf("error %v, want one of a database that can't be reached", err)
			}
			expect.Equalf(t, export(t, from), want, "the database that was read has changed")
			if _, err := move(t.Context(), from, to.URL, noStep); err != nil {
				t.Fatalf("the move is repeated: %v", err)
			}
			expect.Equalf(t, export(t, to), want, "the store that was moved exports other bytes")
		})
	}
}

func TestAnErrorOfAMoveHidesThePassword(t *testing.T) {
	for _, url := range []string{"postgres://eve:hunter2@127.0.0.1:1/shop", "postgres://eve:hunter2@127.0.0.1:99999/shop", "postgres://eve:hunter2@[::1/shop"} {
		_, err := move(t.Context(), template.New(t, dbtest.SQLite), url, noStep)
		if err == nil {
			t.Fatalf("no error")
		}
		for ; err != nil; err = errors.Unwrap(err) {
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error %q has the password", err)
			}
		}
	}
}

// What is written while a store moves would be missing in the new database.
func TestNobodyWritesAStoreThatIsBeingMoved(t *testing.T) {
	t.Parallel()
	eachMove(t, func(t *testing.T, from, to dbtest.DB) {
		s, err := store.Open(t.Context(), options(from))
		if err == nil {
			err = s.Prepare(t.Context())
		}
		must.Do(t, err)
		defer s.Close()
		written := make(chan error, 1)
		must.Get(move(t.Context(), from, to.URL, func(step string) {
			switch step {
			case "copied":
				go func() {
					_, err := s.CreateWorkspace(context.WithoutCancel(t.Context()), operator, workspace("zelda-9"))
					written <- err
				}()
			case "recorded":
				if len(written) > 0 {
					if err := <-written; !fault.HasCode(err, countersign.CodeBusy) {
						t.Errorf("a write ended during the move: %v", err)
					}
					written <- nil
				}
			}
		}))(t)
		<-written
		if strings.Contains(export(t, to), "zelda-9") {
			t.Error("the new database has what was written later")
		}
	})
}

func TestAMoveThatIsKilledLeavesNothingOrAll(t *testing.T) {
	t.Parallel()
	eachMove(t, func(t *testing.T, from, to dbtest.DB) {
		want := export(t, from)
		must.Do(t, os.WriteFile(filepath.Join(from.Dir, targetFile), []byte(to.URL), 0o600))
		for _, step := range []string{"copied", "verified", "recorded"} {
			dbtest.Killed(t, from, moveStep+step)
			if to.URL == "" && exists(filepath.Join(from.Dir, store.Product.DatabaseName())) {
				t.Errorf("%s: there is a database", step)
			}
			expect.Equalf(t, export(t, from), want, "%s: the database that was read has changed", step)
		}
		dbtest.Killed(t, from, moveStep+"done") // into the same database: it was left empty
		if export(t, to) != want || export(t, from) != want {
			t.Error("after the move the two databases export other bytes than before")
		}
		if exists(filepath.Join(from.Dir, store.Product.DatabaseName()+".restore")) {
			t.Error("the file that was being filled is still there")
		}
	})
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

package people

import (
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

const (
	email    = "ada@site.example"
	password = "four quiet green words"
	other    = "five more quiet green words"
)

// frontEndData is what a front end keeps in a session.
const frontEndData = "kept by the front end"

var (
	operator = Operator("tester")
	home     = Origin{Addr: netip.MustParseAddr("192.0.2.7"), Agent: "Browser 1"}
	away     = Origin{Addr: netip.MustParseAddr("198.51.100.9"), Agent: "Browser 2"}
)

type fixture struct {
	*People
	clock    *dbtest.Clock
	at       dbtest.DB
	database *sqldb.DB
	keyFile  *keyfile.Box
	log      *strings.Builder
}

// engines runs fn with new people on both engines.
func engines(t *testing.T, fn func(t *testing.T, f *fixture)) {
	emptyTables.Engines(t, func(t *testing.T, place dbtest.DB) {
		box := must.Get(keyfile.Create(place.Dir))(t)
		f := &fixture{clock: dbtest.NewClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)), at: place, keyFile: box, log: &strings.Builder{}}
		f.open(t)
		fn(t, f)
	})
}

// emptyTables is a database with the tables of people.
var emptyTables = dbtest.NewTemplate(func(at dbtest.DB) error {
	ctx := context.Background()
	database, err := sqldb.Open(ctx, optionsOf(at))
	if err != nil {
		return err
	}
	return errors.Join(database.Migrate(ctx), database.Close())
})

func optionsOf(at dbtest.DB) sqldb.Options {
	return sqldb.Options{URL: at.URL, Path: filepath.Join(at.Dir, "people.db"), Schemas: []sqldb.Schema{peopledb.Schema}}
}

// open opens the fixture's database as another process would.
func (f *fixture) open(t *testing.T) {
	t.Helper()
	database := must.Get(sqldb.Open(t.Context(), optionsOf(f.at)))(t)
	t.Cleanup(func() {
		expect.NoError(t, database.Close())
	})
	f.database = database
	f.People = New(Options{DB: &peopledb.DB{Queries: database.Queries()}, Box: func() *keyfile.Box { return f.keyFile }, Now: f.clock.Now, Log: slog.New(slog.NewTextHandler(f.log, nil)), HashCost: TestCost})
}

// second is the same people in another process.
func (f *fixture) second(t *testing.T) *fixture {
	t.Helper()
	again := *f
	again.log = &strings.Builder{}
	again.open(t)
	return &again
}

// administrator creates a user, and the actor that the user is.
func (f *fixture) administrator(t *testing.T) (User, Actor) {
	t.Helper()
	u := must.Get(f.CreateAdministrator(t.Context(), operator, email, password))(t)
	return u, u.Actor(home)
}

// session begins a session of a user and returns its token and id.
func (f *fixture) session(t *testing.T, token string, u User) SessionID {
	t.Helper()
	must.Do(t, f.SaveSession(t.Context(), token, SavedSession{User: u.ID, Generation: u.Generation, Data: []byte(frontEndData), Expires: f.clock.Now().Add(12 * time.Hour), From: home}))
	s, found, err := f.LoadSession(t.Context(), token)
	if err != nil || !found {
		t.Fatalf("the session %s: %v, %v", token, found, err)
	}
	return s.ID
}

// alive reports whether a token has a session.
func (f *fixture) alive(t *testing.T, token string) bool {
	t.Helper()
	_, found, err := f.LoadSession(t.Context(), token)
	must.Do(t, err)
	return found
}

// actions lists the audit log as "action subject", oldest first.
func (f *fixture) actions(t *testing.T) []string {
	t.Helper()
	lines := must.Get(f.Audit(t.Context(), operator, AuditFilter{}))(t)
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[len(lines)-1-i] = strings.TrimSpace(string(l.Action) + " " + l.Subject)
	}
	return texts
}

// wantCode wants one of our errors by its code; "" wants none.
func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	if got := codeOf(err); got != code {
		t.Errorf("error %v, want the code %q", err, code)
	}
}

func codeOf(err error) string {
	var apiErr *countersign.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &apiErr):
		return apiErr.Code
	}
	return "not ours: " + err.Error()
}

// atOnce runs fn in many goroutines and counts the codes of their errors.
func atOnce(n int, fn func(i int) error) map[string]int {
	codes := make([]string, n)
	begin := make(chan struct{})
	var work sync.WaitGroup
	for i := range n {
		work.Go(func() {
			<-begin
			codes[i] = codeOf(fn(i))
		})
	}
	close(begin)
	work.Wait()
	counts := map[string]int{}
	for _, code := range codes {
		counts[code]++
	}
	return counts
}

// content is everything the database holds: SQLite's file, or all rows of
// PostgreSQL with their blobs as hexadecimal digits.
func (f *fixture) content(t *testing.T) string {
	t.Helper()
	if f.at.Engine == dbtest.SQLite {
		path := filepath.Join(t.TempDir(), "copy.db")
		must.Do(t, f.database.Session(t.Context(), func(session *sqldb.DB) error { // which puts it in no transaction
			_, err := session.Queries().Exec(t.Context(), `VACUUM INTO $1`, path)
			return err
		}))
		return string(must.Get(os.ReadFile(path))(t))
	}
	var all strings.Builder
	for _, table := range []string{"users", "sessions", "links", "recovery_codes", "audit", "meta", "changes"} {
		rows := must.Get(sqldb.List(t.Context(), f.database.Queries(), sqldb.Value[string], `SELECT row_to_json(t)::text FROM "`+table+`" t`))(t)
		all.WriteString(strings.Join(rows, "\n"))
	}
	return all.String()
}

// holds reports whether content has a text, as it is or as a blob.
func holds(content, text string) bool {
	return strings.Contains(content, text) || strings.Contains(content, hex.EncodeToString([]byte(text)))
}

package addon

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/sqldb"
)

func (f *fixture) wantRequests(t *testing.T, settings, iap int64) {
	t.Helper()
	got, err := f.Requests(t.Context(), operator)
	if want := (Requests{Settings: settings, IAP: iap}); err != nil || got != want {
		t.Errorf("%+v, %v instead of %+v", got, err, want)
	}
}

func (f *fixture) ask(settings, iap int) {
	for range settings {
		f.NoteRequest(AddressSettings)
	}
	for range iap {
		f.NoteRequest(AddressIAP)
	}
}

func TestRequestsAreWrittenInBatchesAndCountAtOnceHere(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		other := f.again(t)
		f.wantRequests(t, 0, 0)
		f.ask(3, 1)
		f.wantRequests(t, 3, 1)
		other.wantRequests(t, 0, 0)
		f.writeRequests(t.Context())
		f.wantRequests(t, 3, 1)
		other.wantRequests(t, 3, 1)
		f.ask(1, 0)
		f.writeRequests(t.Context())
		other.ask(2, 2)
		other.writeRequests(t.Context())
		f.wantRequests(t, 6, 3)
	})
}

func TestRequestsOfTheLast24HoursCount(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.ask(5, 0)
		f.writeRequests(t.Context())
		f.clock.move(23*time.Hour + 59*time.Minute)
		f.ask(1, 1)
		f.writeRequests(t.Context())
		f.wantRequests(t, 6, 1)
		f.clock.move(time.Minute)
		f.wantRequests(t, 1, 1)
	})
}

func TestOldHoursAreForgotten(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		rows := func() (n int64) {
			for of := range addresses {
				all, err := f.db.Requests(t.Context(), sqldb.Time{Time: noon.AddDate(-1, 0, 0)}, of.kept())
				if err != nil {
					t.Fatal(err)
				}
				n += all
			}
			return n
		}
		f.ask(2, 1)
		f.writeRequests(t.Context())
		f.clock.move(requestsKept)
		for range 2 {
			if err := f.pruneRequests(t.Context()); err != nil || rows() != 3 {
				t.Errorf("%d left, %v", rows(), err)
			}
		}
		f.clock.move(time.Hour)
		if err := f.pruneRequests(t.Context()); err != nil || rows() != 0 {
			t.Errorf("%d left, %v", rows(), err)
		}
	})
}

func TestAStopWritesTheLastRequests(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		g := f.again(t)
		g.ask(4, 2)
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		f.wantRequests(t, 4, 2)
	})
}

func TestRequestsThatCanNotBeWrittenAreKept(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.ask(4, 2)
		gone, stop := context.WithCancel(t.Context())
		stop()
		f.writeRequests(gone)
		if !strings.Contains(f.log.String(), "the number of requests from apps could not be written") {
			t.Errorf("the log says %s", f.log)
		}
		f.wantRequests(t, 4, 2)
		f.writeRequests(t.Context())
		f.again(t).wantRequests(t, 4, 2)
	})
}

func TestWithOlderTablesRequestsAreAnsweredAndNotCounted(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for _, statement := range []string{`DROP TABLE simulator`, `DROP TABLE numbers`, `DROP TABLE orders`, `DROP TABLE alerts`, `DROP TABLE inbox`, `DROP TABLE grants`, `DROP TABLE memberships`, `DROP TABLE purchase_history`, `DROP TABLE purchase_items`, `DROP TABLE purchases`, `DROP TABLE identities`, `DROP TABLE requests`, `DROP TABLE licenses`, `DROP TABLE event_head`, `DROP TABLE events`, `DROP TABLE webhooks`, `DROP TABLE deliveries`, `DROP TABLE delivery_attempts`, `DROP TABLE purchase_codes`, `DELETE FROM addon_versions WHERE version_id > 1`} {
			if _, err := f.db.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		g := opened(t, f.at, f.clock)
		if err := g.Prepare(t.Context()); err == nil || g.State() != StateOutdated {
			t.Fatalf("%v, %s", err, g.State())
		}
		if g.served(t).Version != 1 {
			t.Error("apps get something else")
		}
		g.ask(2, 2)
		g.writeRequests(t.Context())
		if g.log.String() != "" {
			t.Errorf("the log says %s", g.log)
		}
		g.forgetRequests()
		g.mustUpdate(t)
		g.wantRequests(t, 0, 0)
	})
}

package addon_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
)

func wantRequests(t *testing.T, f *addontest.Fixture, settings, iap int64) {
	t.Helper()
	got, err := f.Requests(t.Context(), operator)
	if want := (addon.Requests{Settings: settings, IAP: iap}); err != nil || got != want {
		t.Errorf("%+v, %v instead of %+v", got, err, want)
	}
}

func ask(f *addontest.Fixture, settings, iap int) {
	for range settings {
		f.NoteRequest(addon.AddressSettings)
	}
	for range iap {
		f.NoteRequest(addon.AddressIAP)
	}
}

func TestRequestsAreWrittenInBatchesAndCountAtOnceHere(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		other := f.Again(t)
		wantRequests(t, f, 0, 0)
		ask(f, 3, 1)
		wantRequests(t, f, 3, 1)
		wantRequests(t, other, 0, 0)
		f.WriteRequests(t.Context())
		wantRequests(t, f, 3, 1)
		wantRequests(t, other, 3, 1)
		ask(f, 1, 0)
		f.WriteRequests(t.Context())
		ask(other, 2, 2)
		other.WriteRequests(t.Context())
		wantRequests(t, f, 6, 3)
	})
}

func TestRequestsOfTheLast24HoursCount(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ask(f, 5, 0)
		f.WriteRequests(t.Context())
		f.Clock.Move(23*time.Hour + 59*time.Minute)
		ask(f, 1, 1)
		f.WriteRequests(t.Context())
		wantRequests(t, f, 6, 1)
		f.Clock.Move(time.Minute)
		wantRequests(t, f, 1, 1)
	})
}

func TestOldHoursAreForgotten(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		rows := func() (n int64) {
			for _, of := range []string{"settings", "iap"} {
				all := must.Get(f.DB().Requests(t.Context(), sqldb.Time{Time: noon.AddDate(-1, 0, 0)}, of))(t)
				n += all
			}
			return n
		}
		ask(f, 2, 1)
		f.WriteRequests(t.Context())
		f.Clock.Move(addon.RequestsKept)
		for range 2 {
			if err := f.PruneRequests(t.Context()); err != nil || rows() != 3 {
				t.Errorf("%d left, %v", rows(), err)
			}
		}
		f.Clock.Move(time.Hour)
		if err := f.PruneRequests(t.Context()); err != nil || rows() != 0 {
			t.Errorf("%d left, %v", rows(), err)
		}
	})
}

func TestAStopWritesTheLastRequests(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		g := f.Again(t)
		ask(g, 4, 2)
		must.Do(t, g.Close())
		wantRequests(t, f, 4, 2)
	})
}

func TestRequestsThatCanNotBeWrittenAreKept(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ask(f, 4, 2)
		gone, stop := context.WithCancel(t.Context())
		stop()
		f.WriteRequests(gone)
		if !strings.Contains(f.Log.String(), "the number of requests from apps could not be written") {
			t.Errorf("the log says %s", f.Log)
		}
		wantRequests(t, f, 4, 2)
		f.WriteRequests(t.Context())
		wantRequests(t, f.Again(t), 4, 2)
	})
}

func TestWithOlderTablesRequestsAreAnsweredAndNotCounted(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		addontest.Outdate(t, f.At)
		g := addontest.New(t, f.At, f.Clock)
		if err := g.Prepare(t.Context()); err == nil || g.State() != access.StateOutdated {
			t.Fatalf("%v, %s", err, g.State())
		}
		expect.Equalf(t, g.Served(t).Version, 1, "apps get something else")
		ask(g, 2, 2)
		g.WriteRequests(t.Context())
		expect.Equalf(t, g.Log.String(), "", "the log says %s", g.Log)
		g.ForgetRequests()
		g.MustUpdate(t)
		wantRequests(t, g, 0, 0)
	})
}

package membership

import (
	"context"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
)

// follow makes a service hear of changes, as one in a server does. What it heard of is sent to
// the channel, after the service itself was told.
func (f *fixture) follow(t *testing.T) <-chan string {
	t.Helper()
	heard := make(chan string, 100)
	db := f.db.Queries.DB()
	db.Watch(f.Watcher())
	db.Watch(sqldb.Watcher{Changed: func(topic, ref string) { heard <- topic + " " + ref }, Lost: func() {}, Live: func() { heard <- "live" }})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		db.Feed(ctx)
	}()
	t.Cleanup(func() { stop(); <-ended })
	for <-heard != "live" {
	}
	return heard
}

// version is that of a membership as it is read.
func (f *fixture) version(t *testing.T, user string) int64 {
	t.Helper()
	read := must.Get(f.Membership(t.Context(), user))(t)
	return read.Membership.Version
}

// wantRead checks the name of the package in what is read and in what is answered.
func (f *fixture) wantRead(t *testing.T, user, name string, version int64) {
	t.Helper()
	read := must.Get(f.Membership(t.Context(), user))(t)
	got := ""
	if read.Membership.Package != nil {
		got = read.Membership.Package.Name
	}
	if got != name || read.Membership.Version != version {
		t.Errorf("%s has %q, version %d; want %q, %d", user, got, read.Membership.Version, name, version)
	}
}

// keeps reports whether a membership that is read stays in memory. The feed may repeat a change
// that this process made itself.
func (f *fixture) keeps(t *testing.T, user string) bool {
	t.Helper()
	for range 100 {
		f.version(t, user)
		if _, found, _ := f.cache.Find(user); found {
			return true
		}
	}
	return false
}

func TestAMembershipIsReadFromMemoryUntilItChanges(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		heard := f.follow(t)
		f.wantRead(t, "ana", "", 0)
		must.Get(f.AddGrant(t.Context(), program, "ana", silver, time.Time{}, "test"))(t)
		f.wantRead(t, "ana", "Silver", 1)

		if !f.keeps(t, "ana") {
			t.Error("it was not kept in memory")
		}

		other := opened(t, f.at)
		must.Get(other.AddGrant(t.Context(), program, "ana", gold, time.Time{}, "by another process"))(t)
		for f.version(t, "ana") != 2 {
			<-heard
		}
		f.wantRead(t, "ana", "Gold", 2)
		f.wantMembership(t, "ana", entitle.Active, gold, 2)

		must.Do(t, f.db.Tx(t.Context(), func(tx *addondb.DB) error {
			return tx.UpdatePackage(t.Context(), addondb.Package{ID: gold, Name: "Platinum", Rank: 2, Paid: true})
		}))
		f.wantRead(t, "ana", "Platinum", 2)
	})
}

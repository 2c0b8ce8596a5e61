package sqldb

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
)

func TestFeedSilenceGrowsUntilTheFeedIsBack(t *testing.T) {
	t.Parallel()
	at := dbtest.New(t, dbtest.Postgres)
	migrated(t, at)
	proxy := dbtest.NewProxy(t, at)
	db := open(t, Options{URL: proxy.URL, Schemas: []Schema{twoSteps()}})
	events := feed(t, db)
	before := db.Status()
	proxy.Deafen()
	awaitEvent(t, events, "lost")
	lost := db.Status()
	if lost.FeedSilence < feedSilence/2 || lost.CachesBypassed < before.CachesBypassed || !lost.Reachable || lost.DownFor != 0 {
		t.Errorf("lost: %+v", lost)
	}
	proxy.Restore()
	awaitEvent(t, events, "live")
	back := db.Status()
	if back.CachesBypassed <= lost.CachesBypassed || db.Status().CachesBypassed != back.CachesBypassed {
		t.Errorf("back: %+v, then %+v", back, db.Status())
	}
}

// A server that waits for its first update or for a migration opens a database long before it follows changes.
func TestAFeedIsSilentOnlySinceItBegan(t *testing.T) {
	t.Parallel()
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		if s := db.Status(); s.FeedLive || s.FeedSilence != 0 || s.CachesBypassed != 0 {
			t.Errorf("before: %+v", s)
		}
		feed(t, db)
		if s := db.Status(); !s.FeedLive || s.FeedSilence <= 0 || s.CachesBypassed <= 0 {
			t.Errorf("live: %+v", s)
		}
	})
}

func TestAFeedThatWasNeverLiveIsSilent(t *testing.T) {
	t.Parallel()
	db := open(t, optionsOf(dbtest.New(t, dbtest.SQLite), twoSteps())) // without tables
	events := watch(db)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		db.Feed(ctx)
	}()
	awaitEvent(t, events, "lost")
	if s := db.Status(); s.FeedLive || s.FeedSilence <= 0 || s.CachesBypassed <= 0 || s.FeedLosses != 0 {
		t.Errorf("%+v", s)
	}
	stop()
	await(t, ended)
}

func TestTheStatusSaysForHowLongPostgreSQLIsDown(t *testing.T) {
	t.Parallel()
	at := dbtest.New(t, dbtest.Postgres)
	migrated(t, at)
	proxy := dbtest.NewProxy(t, at)
	db := open(t, Options{URL: proxy.URL, Schemas: []Schema{twoSteps()}})
	feed(t, db)
	proxy.Cut()
	for db.Status().Reachable && dbtest.Again(t) {
		wantUnavailable(t, db.Ping(t.Context()))
	}
	if first := db.Status().DownFor; first <= 0 || db.Status().DownFor <= first {
		t.Errorf("down for %s, then %s", first, db.Status().DownFor)
	}
	proxy.Restore()
	for !db.Status().Reachable && dbtest.Again(t) {
		_ = db.Ping(t.Context())
	}
	if s := db.Status(); s.DownFor != 0 {
		t.Errorf("back: %+v", s)
	}
}

func TestTheStatusNamesWhyWritesAreOff(t *testing.T) {
	db := migrated(t, dbtest.New(t, dbtest.SQLite))
	for i, why := range []stopReason{stopFsync, stopFile, stopLock, db.stopDamage()} {
		db.writesOff.Store(nil)
		if s := db.Status(); s.WritesOff != "" {
			t.Errorf("before: %s", s.WritesOff)
		}
		db.stopWrites(why, errors.New("x"))
		if s := db.Status(); s.WritesOff != WritesOffReasons[i] {
			t.Errorf("%s: %s", why.what, s.WritesOff)
		}
	}
	db.writesOff.Store(nil)
}

func TestTheStatusSaysWhetherTheCommitFileIsWritten(t *testing.T) {
	at := dbtest.New(t, dbtest.SQLite)
	db := migrated(t, at)
	mark(t, db, "1") // the first commit that is counted
	file := CommitFile(db.Path())
	must.Do(t, errors.Join(os.RemoveAll(file), os.Mkdir(file, 0o700)))
	if db.writeCommits(t.Context()); !db.Status().CommitFileBehind {
		t.Error("a folder is in its place")
	}
	must.Do(t, os.Remove(file))
	if db.writeCommits(t.Context()); db.Status().CommitFileBehind {
		t.Error("it can be written again")
	}
}

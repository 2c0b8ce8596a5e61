package addon

import (
	"testing"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/sqldb"
)

// changedPairs reports changes of API credentials, after the cache has heard of them.
func (f *fixture) changedPairs() <-chan struct{} {
	changed := make(chan struct{}, 64)
	f.database.Watch(sqldb.Watcher{Changed: func(topic, _ string) {
		if topic == addondb.TopicCredentials {
			changed <- struct{}{}
		}
	}, Lost: func() {}, Live: func() {}})
	return changed
}

// A server answers from memory, and never with what was changed.
func TestCachedCredentialsFollowTheirChanges(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		changed := f.changedPairs()
		f.run(t)
		pair, made := f.pair(t, 1), f.mustToken(t, "7")
		want := func(when string, pair APICredentials, nonce, code string) {
			t.Helper()
			for f.pairs.Cached() == nil { // the news of a change may drop it once more
				if _, err := f.pairs.Get(ctx); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := f.AppUser(ctx, client, pair.Key, made); codeOf(err) != code {
				t.Errorf("%s: an app: %v, want %q", when, err, code)
			}
			if _, err := f.Signed(ctx, client, f.sign(pair, nonce)); codeOf(err) != code {
				t.Errorf("%s: a program: %v, want %q", when, err, code)
			}
		}
		want("at first", pair, "nonce-at-first", "")
		f.deactivate(t, HalfSecret)
		want("inactive", pair, "nonce-inactive", "credential_inactive")
		if _, err := f.SetCredentialActive(ctx, operator, 1, HalfBoth, true); err != nil {
			t.Fatal(err)
		}
		want("active again", pair, "nonce-active", "")
		_, rotated, err := f.RotateCredential(ctx, operator, 1)
		if err != nil {
			t.Fatal(err)
		}
		want("before the rotation", pair, "nonce-old", "credential_unknown")
		want("after the rotation", rotated, "nonce-rotated", "")
		want("a new pair", f.secondPair(t), "nonce-second", "")
		f.deactivate(t, HalfBoth)
		if _, err := f.again(t).DeleteCredential(ctx, operator, 1); err != nil {
			t.Fatal(err)
		}
		for err := error(nil); codeOf(err) != "credential_unknown"; _, err = f.AppUser(ctx, client, rotated.Key, made) {
			<-changed // also the news of our own changes
		}
		want("deleted by another process", rotated, "nonce-deleted", "credential_unknown")
	})
}

// What the memory of credentials saves an app's call.
func BenchmarkAppUser(b *testing.B) {
	for name, cached := range map[string]bool{"cached": true, "from the database": false} {
		b.Run(name, func(b *testing.B) {
			f := updated(b, dbtest.New(b, dbtest.SQLite))
			_, pair, err := f.RevealCredential(b.Context(), operator, 1)
			if err != nil {
				b.Fatal(err)
			}
			made, err := f.NewUserToken(program, "7")
			if err != nil {
				b.Fatal(err)
			}
			if cached {
				f.pairs.Live()
				if _, err := f.pairs.Get(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				if _, err := f.AppUser(b.Context(), client, pair.Key, made.Token); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package credential_test

import (
	"testing"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
)

// changedPairs reports changes of API credentials, after the cache has heard of them.
func changedPairs(f *addontest.Fixture) <-chan struct{} {
	changed := make(chan struct{}, 64)
	f.Credentials.DB().Queries.DB().Watch(sqldb.Watcher{Changed: func(topic, _ string) {
		if topic == addondb.TopicCredentials {
			changed <- struct{}{}
		}
	}, Lost: func() {}, Live: func() {}})
	return changed
}

// A server answers from memory, and never with what was changed.
func TestCachedCredentialsFollowTheirChanges(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		changed := changedPairs(f)
		f.Serve(t)
		pair, made := pairOf(t, f, 1), mustToken(t, f, "7")
		want := func(when string, pair credential.Values, nonce, code string) {
			t.Helper()
			for f.Credentials.Pairs().Cached() == nil { // the news of a change may drop it once more
				must.Get(f.Credentials.Pairs().Get(ctx))(t)
			}
			if _, err := f.Credentials.AppUser(ctx, client, pair.Key, made); addontest.CodeOf(err) != code {
				t.Errorf("%s: an app: %v, want %q", when, err, code)
			}
			if _, err := f.Credentials.Signed(ctx, client, signed(f, pair, nonce)); addontest.CodeOf(err) != code {
				t.Errorf("%s: a program: %v, want %q", when, err, code)
			}
		}
		want("at first", pair, "nonce-at-first", "")
		mustSwitch(t, f, 1, credential.HalfSecret, false)
		want("inactive", pair, "nonce-inactive", "credential_inactive")
		must.Get(f.Credentials.SetActive(ctx, operator, 1, credential.HalfBoth, true))(t)
		want("active again", pair, "nonce-active", "")
		_, rotated, err := f.Credentials.Rotate(ctx, operator, 1)
		must.Do(t, err)
		want("before the rotation", pair, "nonce-old", "credential_unknown")
		want("after the rotation", rotated, "nonce-rotated", "")
		want("a new pair", secondPair(t, f), "nonce-second", "")
		mustSwitch(t, f, 1, credential.HalfBoth, false)
		must.Get(f.Again(t).Credentials.Delete(ctx, operator, 1))(t)
		for err := error(nil); addontest.CodeOf(err) != "credential_unknown"; _, err = f.Credentials.AppUser(ctx, client, rotated.Key, made) {
			<-changed // also the news of our own changes
		}
		want("deleted by another process", rotated, "nonce-deleted", "credential_unknown")
	})
}

// What the memory of credentials saves an app's call.
func BenchmarkAppUser(b *testing.B) {
	for name, cached := range map[string]bool{"cached": true, "from the database": false} {
		b.Run(name, func(b *testing.B) {
			f := addontest.Updated(b, dbtest.New(b, dbtest.SQLite))
			_, pair, err := f.Credentials.Reveal(b.Context(), operator, 1)
			must.Do(b, err)
			made := must.Get(f.Credentials.NewUserToken(program, "7"))(b)
			if cached {
				f.Credentials.Pairs().Live()
				must.Get(f.Credentials.Pairs().Get(b.Context()))(b)
			}
			for b.Loop() {
				must.Get(f.Credentials.AppUser(b.Context(), client, pair.Key, made.Token))(b)
			}
		})
	}
}

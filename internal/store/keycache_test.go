package store

import (
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
)

// The second store stands for a command that runs beside the server.
func TestChangesByAnotherProcess(t *testing.T) {
	cases := []struct {
		name   string
		change func(t *testing.T, other *fixture, k Key)
		want   string
	}{
		{"a revoked key is refused", func(t *testing.T, other *fixture, k Key) {
			if _, err := other.RevokeKey(t.Context(), operator, k.ID); err != nil {
				t.Fatal(err)
			}
		}, "key_revoked"},
		{"a rotated key without overlap is refused", func(t *testing.T, other *fixture, k Key) {
			if _, _, err := other.RotateKey(t.Context(), operator, k.ID, 0); err != nil {
				t.Fatal(err)
			}
		}, "key_expired"},
		{"a key that an import revokes is refused", func(t *testing.T, other *fixture, k Key) {
			other.mustImport(t, lines(keyText("ada", k.Name, `"revoked_at":"2026-10-01T00:00:00Z"`)))
		}, "key_revoked"},
		{"a key that was made works", func(t *testing.T, other *fixture, _ Key) {
			other.mustCreate(t, NewKey{Workspace: "ada", Name: "another"})
		}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			eitherShops(t, func(t *testing.T, f *fixture) {
				k, token := f.mustCreate(t, NewKey{Workspace: "ada"})
				told := make(chan struct{}, 100)
				f.database.Watch(sqldb.Watcher{Changed: func(topic, _ string) {
					if topic == storedb.TopicKeys {
						told <- struct{}{} // after the store's own watcher, which was added first
					}
				}, Lost: func() {}, Live: func() {}})
				f.run(t)
				if _, err := f.Validation.Authenticate(t.Context(), token, client); err != nil {
					t.Fatal(err)
				}
				c.change(t, f.again(t), k)
				await(t, told)
				_, err := f.Validation.Authenticate(t.Context(), token, client)
				wantError(t, err, c.want)
			})
		})
	}
}

func TestOwnChangesAreSeenAtOnce(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		k, token := f.mustCreate(t, NewKey{Workspace: "ada"})
		f.run(t)
		if _, err := f.RevokeKey(t.Context(), operator, k.ID); err != nil {
			t.Fatal(err)
		}
		_, err := f.Validation.Authenticate(t.Context(), token, client)
		wantError(t, err, "key_revoked")
	})
}

func TestSwitchesOfAWorkspaceAreSeenAtOnce(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		_, token := f.mustCreate(t, NewKey{Workspace: "ada"})
		f.run(t)
		_, err := f.SetWorkspace(t.Context(), operator, "ada", func(w *Workspace) { w.Switches.RefuseQueryKeys = true })
		if err != nil {
			t.Fatal(err)
		}
		access, err := f.Validation.Authenticate(t.Context(), token, client)
		if err != nil || !access.Switches.RefuseQueryKeys {
			t.Errorf("%+v, %v", access, err)
		}
	})
}

// While PostgreSQL is away nothing held may be trusted; when it is back, a key
// that was revoked meanwhile is refused.
func TestKeyRevokedWhilePostgresWasAway(t *testing.T) {
	t.Parallel()
	place := twoShopsStore.New(t, dbtest.Postgres)
	direct := prepared(t, place)
	k, token := direct.mustCreate(t, NewKey{Workspace: "ada"})
	proxy := dbtest.NewProxy(t, place)
	far := place
	far.URL = proxy.URL
	f := prepared(t, far)
	lost := make(chan struct{}, 100)
	f.database.Watch(sqldb.Watcher{Changed: func(string, string) {}, Lost: func() { lost <- struct{}{} }, Live: func() {}})
	f.run(t)
	if _, err := f.Validation.Authenticate(t.Context(), token, client); err != nil {
		t.Fatal(err)
	}
	proxy.Cut()
	await(t, lost)
	_, err := f.Validation.Authenticate(t.Context(), token, client)
	wantError(t, err, "unavailable")
	wantError(t, f.Ready(t.Context()), "unavailable")
	if _, err := direct.RevokeKey(t.Context(), operator, k.ID); err != nil {
		t.Fatal(err)
	}
	proxy.Restore()
	for f.Ready(t.Context()) != nil { // until it is found to be back
	}
	_, err = f.Validation.Authenticate(t.Context(), token, client)
	wantError(t, err, "key_revoked")
}

package validation_test

import (
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/storetest"
)

// The second store stands for a command that runs beside the server.
func TestChangesByAnotherProcess(t *testing.T) {
	cases := []struct {
		name   string
		change func(t *testing.T, other *storetest.Fixture, k store.Key)
		want   string
	}{
		{"a revoked key is refused", func(t *testing.T, other *storetest.Fixture, k store.Key) {
			must.Get(other.RevokeKey(t.Context(), storetest.Operator, k.ID))(t)
		}, "key_revoked"},
		{"a rotated key without overlap is refused", func(t *testing.T, other *storetest.Fixture, k store.Key) {
			if _, _, err := other.RotateKey(t.Context(), storetest.Operator, k.ID, 0, ""); err != nil {
				t.Fatal(err)
			}
		}, "key_expired"},
		{"a key that an import revokes is refused", func(t *testing.T, other *storetest.Fixture, k store.Key) {
			other.MustImport(t, storetest.Lines(storetest.KeyText("ada", k.Name, `"revoked_at":"2026-10-01T00:00:00Z"`)))
		}, "key_revoked"},
		{"a key that was made works", func(t *testing.T, other *storetest.Fixture, _ store.Key) {
			other.MustCreate(t, store.NewKey{Workspace: "ada", Name: "another"})
		}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			storetest.EitherShops(t, func(t *testing.T, f *storetest.Fixture) {
				k, token := f.MustCreate(t, store.NewKey{Workspace: "ada"})
				told := make(chan struct{}, 100)
				f.Validation.Database().Watch(sqldb.Watcher{Changed: func(topic, _ string) {
					if topic == storedb.TopicKeys {
						told <- struct{}{} // after the store's own watcher, which was added first
					}
				}, Lost: func() {}, Live: func() {}})
				f.Start(t, f.Validation.Database())
				must.Get(f.Validation.Authenticate(t.Context(), token, storetest.Client))(t)
				c.change(t, f.Again(t), k)
				storetest.Await(t, told)
				_, err := f.Validation.Authenticate(t.Context(), token, storetest.Client)
				storetest.WantError(t, err, c.want)
			})
		})
	}
}

func TestOwnChangesAreSeenAtOnce(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		k, token := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		f.Start(t, f.Validation.Database())
		must.Get(f.RevokeKey(t.Context(), storetest.Operator, k.ID))(t)
		_, err := f.Validation.Authenticate(t.Context(), token, storetest.Client)
		storetest.WantError(t, err, "key_revoked")
	})
}

func TestSwitchesOfAWorkspaceAreSeenAtOnce(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		_, token := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		f.Start(t, f.Validation.Database())
		must.Get(f.SetWorkspace(t.Context(), storetest.Operator, "ada", func(w *store.Workspace) { w.Switches.RefuseQueryKeys = true }))(t)
		access, err := f.Validation.Authenticate(t.Context(), token, storetest.Client)
		if err != nil || !access.Switches.RefuseQueryKeys {
			t.Errorf("%+v, %v", access, err)
		}
	})
}

// While PostgreSQL is away nothing held may be trusted; when it is back, a key
// that was revoked meanwhile is refused.
func TestKeyRevokedWhilePostgresWasAway(t *testing.T) {
	t.Parallel()
	place := storetest.TwoShopsStore.New(t, dbtest.Postgres)
	direct := storetest.Prepared(t, place)
	k, token := direct.MustCreate(t, store.NewKey{Workspace: "ada"})
	proxy := dbtest.NewProxy(t, place)
	far := place
	far.URL = proxy.URL
	f := storetest.Prepared(t, far)
	lost := make(chan struct{}, 100)
	f.Validation.Database().Watch(sqldb.Watcher{Changed: func(string, string) {}, Lost: func() { lost <- struct{}{} }, Live: func() {}})
	f.Start(t, f.Validation.Database())
	must.Get(f.Validation.Authenticate(t.Context(), token, storetest.Client))(t)
	proxy.Cut()
	storetest.Await(t, lost)
	_, err := f.Validation.Authenticate(t.Context(), token, storetest.Client)
	storetest.WantError(t, err, "unavailable")
	storetest.WantError(t, f.Instance.Ready(t.Context()), "unavailable")
	must.Get(direct.RevokeKey(t.Context(), storetest.Operator, k.ID))(t)
	proxy.Restore()
	for fault.IsUnavailable(err) { // until it is found to be back
		_, err = f.Validation.Authenticate(t.Context(), token, storetest.Client)
	}
	storetest.WantError(t, err, "key_revoked")
}

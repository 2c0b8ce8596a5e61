package transfer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/transfer"
)

var operator = people.Operator("tester")

func opened(t *testing.T, at dbtest.DB) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: at.Dir, URL: at.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// Who revokes a key while an import changes it: neither undoes what the other did. On
// SQLite there is one writer.
func TestRevocationIsNotLostToAnImportUnderWay(t *testing.T) {
	t.Parallel()
	at := dbtest.New(t, dbtest.Postgres)
	s := opened(t, at)
	at.URL += "&lock_timeout=50" // milliseconds; after that it says "busy"
	other := opened(t, at)
	const workspace = `{"type":"workspace","username":"ada","name":{"firstname":"Ada","lastname":"Byron"},"email":"ada@shop.example","balance":0,"currency":"USD","registered_at":"2024-04-27T12:00:00Z"}`
	if _, err := s.Transfer.Import(t.Context(), operator, strings.NewReader(workspace), transfer.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	k, _, err := s.CreateKey(t.Context(), operator, store.NewKey{Workspace: "ada", Name: "web", Class: store.ClassSecret})
	if err != nil {
		t.Fatal(err)
	}
	var revoked error
	end := countersign.At(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	err = s.Transfer.ImportKey(t.Context(), "ada", "web", end, func() { _, revoked = other.RevokeKey(t.Context(), operator, k.ID) })
	if err != nil {
		t.Fatal(err)
	}
	keys, err := s.Keys(t.Context(), operator, "ada")
	if err != nil || len(keys) != 1 {
		t.Fatalf("%d keys, %v", len(keys), err)
	}
	if revoked == nil && keys[0].RevokedAt.IsZero() {
		t.Error("the key was revoked, and is open again")
	}
	if _, err := other.RevokeKey(t.Context(), operator, k.ID); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

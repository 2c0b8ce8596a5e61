package instance

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
)

func TestTheGateIsOpenWithTheKeyFileOfTheDatabase(t *testing.T) {
	box := must.Get(keyfile.Create(t.TempDir()))(t)
	g := NewGate(keyfile.Store)
	migrating := fault.Unavailable(countersign.CodeMigrating, "The database is being migrated")
	steps := []struct {
		name string
		act  func()
		code string // of the error, "" for an open gate
	}{
		{"before the database is prepared", func() {}, "unavailable"},
		{"with a key file that nobody has opened the gate for", func() { g.Open(box) }, "unavailable"},
		{"while the database is migrated", func() { g.SetReason(migrating) }, "migrating"},
		{"with the key file", func() { g.SetReason(nil) }, ""},
		{"after the key file was replaced", g.Outdated, "unavailable"},
		{"with the key file that replaced it", func() { g.Open(box) }, ""},
	}
	for _, s := range steps {
		s.act()
		if err := g.Ready(); (err == nil) != (s.code == "") || err != nil && !fault.HasCode(err, s.code) {
			t.Errorf("%s: %v", s.name, err)
		}
	}
}

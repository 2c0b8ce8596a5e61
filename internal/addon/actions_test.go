package addon_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
)

func TestNoActIsWrittenThatIsInNoList(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		control := &access.Control{Gate: instance.NewGate(keyfile.Addon), Now: f.Clock.Now}
		before := len(f.Audits(t))
		err := f.DB().Tx(t.Context(), func(tx *addondb.DB) error {
			return control.Audit(t.Context(), tx, operator, people.Event{Action: "settings.forget"})
		})
		if err == nil || !strings.Contains(err.Error(), `the action "settings.forget" is not in the list`) {
			t.Errorf("%v", err)
		}
		if after := len(f.Audits(t)); after != before {
			t.Errorf("%d lines more", after-before)
		}
	})
}

func TestActsAreListedOnce(t *testing.T) {
	seen := map[people.Action]bool{}
	for _, act := range access.Actions() {
		if seen[act] {
			t.Errorf("%s stands twice", act)
		}
		seen[act] = true
	}
}

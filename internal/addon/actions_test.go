package addon

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/people"
)

func TestNoActIsWrittenThatIsInNoList(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		before := len(f.audits(t))
		err := f.db.Tx(t.Context(), func(tx *addondb.DB) error {
			return f.guard.Audit(t.Context(), tx, operator, people.Event{Action: "settings.forget"})
		})
		if err == nil || !strings.Contains(err.Error(), `the action "settings.forget" is not in the list`) {
			t.Errorf("%v", err)
		}
		if after := len(f.audits(t)); after != before {
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

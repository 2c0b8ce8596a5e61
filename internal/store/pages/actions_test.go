package pages

import (
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
)

func TestEveryActThatCanBeWrittenDownHasWordsAndCanBeLookedFor(t *testing.T) {
	all := store.Actions()
	for _, act := range all {
		if acts[act] == "" {
			t.Errorf("no words for %s", act)
		}
		noun, _, _ := strings.Cut(string(act), ".")
		if !slices.ContainsFunc(auditNouns, func(c frame.Choice) bool { return c.Value == noun }) {
			t.Errorf("the log can't be narrowed to %s", noun)
		}
	}
	for act := range acts {
		if !slices.Contains(all, act) {
			t.Errorf("words for %s, which nobody writes", act)
		}
	}
}

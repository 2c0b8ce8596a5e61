package people

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/keyfile"
)

func TestTypedValuesComeBackToTheirUserAlone(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ada, _ := f.administrator(t)
		bob := f.another(t, "bob@site.example")
		const page, path = "/packages/new?from=1", "/packages"
		sent := map[string][]string{"name": {"Gold"}, "rank": {"20"}, "password": {password}, "more": {"not of the form"}}
		signed := f.SignForm(ada, Form{Page: page, Path: path, Fields: []string{"name", "rank", "free"}})

		kept := f.KeepTyped(signed, path, sent)
		if kept == "" || strings.Contains(kept, "Gold") {
			t.Fatalf("kept as %q", kept)
		}
		got, ok := f.OpenTyped(ada, kept)
		if want := map[string][]string{"name": {"Gold"}, "rank": {"20"}}; !ok || got.Form.Page != page || got.Form.Path != path || !maps.EqualFunc(got.Values, want, slices.Equal) {
			t.Errorf("ada gets %+v, %v", got, ok)
		}
		if got, ok := f.OpenTyped(bob, kept); ok {
			t.Errorf("bob gets %+v", got)
		}
		for rule, kept := range map[string]string{
			"another path is not the form's":      f.KeepTyped(signed, "/elsewhere", sent),
			"a form that was not signed is none":  f.KeepTyped("", path, sent),
			"a changed form is none":              f.KeepTyped("A"+signed, path, sent),
			"too much is not kept":                f.KeepTyped(signed, path, map[string][]string{"name": {strings.Repeat("x", maxTyped)}}),
			"a form without such fields is empty": f.KeepTyped(f.SignForm(ada, Form{Page: page, Path: path}), path, sent),
			"what is not text of ours is refused": "not base64!",
			"what was not encrypted is refused":   "AAAA",
			"a signed form is not what was typed": signed,
		} {
			if got, ok := f.OpenTyped(ada, kept); ok {
				t.Errorf("%s: %+v", rule, got)
			}
		}
		f.clock.Move(15 * time.Minute)
		if _, ok := f.OpenTyped(ada, kept); ok {
			t.Error("it never expires")
		}
	})
}

func TestNothingTypedIsKeptWithoutAKeyFile(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ada, _ := f.administrator(t)
		signed := f.SignForm(ada, Form{Page: "/a", Path: "/a", Fields: []string{"name"}})
		f.box = func() *keyfile.Box { return nil }
		if again := f.SignForm(ada, Form{Path: "/a"}); again != "" || f.KeepTyped(signed, "/a", nil) != "" {
			t.Error("something was signed or kept")
		}
		if _, ok := f.OpenTyped(ada, "AAAA"); ok {
			t.Error("something was opened")
		}
	})
}

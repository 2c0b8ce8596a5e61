package rules

import (
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/store/sample"
	"github.com/countersign/countersign/internal/store/storedb"
)

func TestNewKeyHasTheFormOfItsClass(t *testing.T) {
	for class, prefix := range map[storedb.Class]string{storedb.ClassSecret: "csk_", storedb.ClassPublishable: "csp_"} {
		form := regexp.MustCompile(`^` + prefix + `[0-9A-Za-z]{49}$`)
		seen := map[string]bool{}
		for range 1000 {
			key := NewKeyValue(class)
			if !form.MatchString(key) || Mistyped(key) || seen[key] {
				t.Fatalf("key %q: of the form %s: %t, Mistyped: %t, seen before: %t", key, form, form.MatchString(key), Mistyped(key), seen[key])
			}
			seen[key] = true
		}
	}
}

func TestMistyped(t *testing.T) {
	good := sample.SecretKey("a label")
	cases := []struct {
		name, key string
		want      bool
	}{
		{"a whole secret key is not", good, false},
		{"a whole publishable key is not", sample.PublishableKey("a label"), false},
		{"a wrong last character is", good[:len(good)-1] + "!", true},
		{"a character left out is", good[:10] + good[11:], true},
		{"a character too many is", good + "0", true},
		{"two characters exchanged are", good[:4] + swapped(good[4:]), true},
		{"the prefix of the other class is", "csp_" + good[4:], true},
		{"the prefix alone is", "csk_", true},
		{"a space behind it is", good + " ", true},
		{"a key of another maker is not", "4f9c1b7e8d2a4f9c1b7e8d2a4f9c1b7e", false},
		{"a prefix in other letters is another maker's", "CSK_" + good[4:], false},
		{"nothing is not", "", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			expect.Equalf(t, Mistyped(c.key), c.want, "%q is Mistyped", c.key)
		})
	}
}

// swapped exchanges the First two characters that differ.
func swapped(s string) string {
	for i := range len(s) - 1 {
		if s[i] != s[i+1] {
			return s[:i] + string(s[i+1]) + string(s[i]) + s[i+2:]
		}
	}
	return s
}

func TestHintGivesNothingAway(t *testing.T) {
	ours := sample.SecretKey("a label")
	cases := []struct{ name, key, want string }{
		{"ours shows its class and its end", ours, "csk_…" + ours[len(ours)-4:]},
		{"a long foreign key shows its end", "0123456789abcdef01234567", "…4567"},
		{"a short foreign key shows nothing", "0123456789abcdef0123456", "…"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			expect.Equal(t, Hint(c.key), c.want)
		})
	}
}

func FuzzMistyped(f *testing.F) {
	for _, key := range []string{"", "csk_", sample.SecretKey("a"), sample.PublishableKey("b"), "csp_" + strings.Repeat("é", 30), "other"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		wrong := Mistyped(key)
		_ = Hint(key)
		ours := strings.HasPrefix(key, "csk_") || strings.HasPrefix(key, "csp_")
		if wrong && !ours {
			t.Errorf("the key %q of another maker is called Mistyped", key)
		}
		if ours && !wrong && len(key) != 53 {
			t.Errorf("the key %q of %d bytes passes", key, len(key))
		}
	})
}

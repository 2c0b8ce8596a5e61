package input

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
)

func TestUserIDs(t *testing.T) {
	for name, c := range map[string]struct {
		id string
		ok bool
	}{
		"a number":                             {"17", true},
		"128 characters of two bytes each":     {strings.Repeat("ä", MaxUserID), true},
		"129 characters":                       {strings.Repeat("x", MaxUserID+1), false},
		"nothing":                              {"", false},
		"a space within":                       {"ada lovelace", true},
		"a space at an end":                    {"ada ", false},
		"a line break":                         {"a\nb", false},
		"bytes that are not UTF-8":             {"a\xffb", false},
		"one dot, which addresses drop":        {".", false},
		"two dots, which addresses drop":       {"..", false},
		"three dots":                           {"...", true},
		"an address within the site's own ids": {"../17", true},
	} {
		expect.Equalf(t, UserID(c.id) == "", c.ok, "%s: valid", name)
	}
}

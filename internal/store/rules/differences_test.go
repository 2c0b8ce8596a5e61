package rules_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/store/rules"
)

func TestOnlyWhatDiffersIsDescribed(t *testing.T) {
	type inner struct {
		A, B string
	}
	type object struct {
		Name  string
		Inner inner
		Tags  []string
	}
	before := object{"one", inner{"same", "left"}, []string{"x"}}
	for name, test := range map[string]struct {
		after   object
		was, is string
	}{
		"nothing":               {before, "", ""},
		"a member":              {object{"two", before.Inner, before.Tags}, `Name: "one"`, `Name: "two"`},
		"a member of an object": {object{"one", inner{"same", "right"}, before.Tags}, `Inner.B: "left"`, `Inner.B: "right"`},
		"a list as a whole":     {object{"one", before.Inner, []string{"x", "y"}}, `Tags: ["x"]`, `Tags: ["x","y"]`},
		"several, by name":      {object{"two", before.Inner, nil}, `Name: "one", Tags: ["x"]`, `Name: "two", Tags: null`},
	} {
		t.Run(name, func(t *testing.T) {
			was, is, err := rules.DescribeMembers(before, test.after)
			if err != nil || was != test.was || is != test.is {
				t.Errorf("%q, %q, %v", was, is, err)
			}
		})
	}
}

func TestLongValuesAreShortenedInTheAuditLog(t *testing.T) {
	var d rules.Differences
	d.Add("description", "short", strings.Repeat("ä", 300))
	_, is := d.Texts()
	if want := "description: " + strings.Repeat("ä", 200) + "… (300 characters)"; is != want {
		t.Errorf("%q", is)
	}
}

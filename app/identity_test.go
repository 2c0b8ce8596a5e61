package app_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/app"
)

// check is a name and the code that it is refused with, "" when it is good.
type check struct{ name, text, code string }

func run(t *testing.T, of func(string) error, checks []check) {
	t.Helper()
	for _, tt := range checks {
		t.Run(tt.name, func(t *testing.T) {
			err := of(tt.text)
			var apiErr *countersign.Error
			if tt.code == "" && err != nil || tt.code != "" && (!errors.As(err, &apiErr) || apiErr.Code != tt.code || apiErr.Kind != countersign.KindInvalid) {
				t.Errorf("%q: %v, want %q", tt.text, err, tt.code)
			}
		})
	}
}

func TestCheckPackageName(t *testing.T) {
	const malformed, sample = "package_name_malformed", "package_name_sample"
	run(t, app.CheckPackageName, []check{
		{"two parts", "com.shop", ""},
		{"more parts", "com.your_name.app2", ""},
		{"capital letters", "com.Shop.App", ""},
		{"one part", "shop", malformed},
		{"nothing", "", malformed},
		{"a part that begins with a digit", "com.2shop", malformed},
		{"a part that begins with an underscore", "com._shop", malformed},
		{"a hyphen", "com.my-shop", malformed},
		{"an empty part", "com..shop", malformed},
		{"a dot at the end", "com.shop.", malformed},
		{"a dot at the front", ".com.shop", malformed},
		{"a space", "com.shop ", malformed},
		{"a line end", "com.shop\n", malformed},
		{"letters of other alphabets", "com.läden", malformed},
		{"the sample name", "com.example.shop", sample},
		{"the sample name in capitals", "com.Example.shop", sample},
		{"the sample name alone", "com.example", sample},
		{"a name that begins like the sample", "com.examples.shop", ""},
	})
}

func TestCheckBundleID(t *testing.T) {
	const malformed, sample = "bundle_id_malformed", "bundle_id_sample"
	run(t, app.CheckBundleID, []check{
		{"two parts", "com.shop", ""},
		{"a hyphen", "com.your-name.app", ""},
		{"a digit at the front of a part", "com.2shop", ""},
		{"one part", "shop", malformed},
		{"nothing", "", malformed},
		{"an underscore", "com.my_shop", malformed},
		{"an empty part", "com..shop", malformed},
		{"a hyphen at the front of a part", "com.-shop", malformed},
		{"a wildcard", "com.shop.*", malformed},
		{"a line end", "com.shop\n", malformed},
		{"the sample name", "com.example.shop", sample},
	})
}

func TestCheckVersion(t *testing.T) {
	const malformed, tooLarge = "version_malformed", "build_number_too_large"
	run(t, app.CheckVersion, []check{
		{"a version and a build number", "1.2.3+45", ""},
		{"zeros", "0.0.0+1", ""},
		{"the largest build number", "1.2.3+2100000000", ""},
		{"one beyond it", "1.2.3+2100000001", tooLarge},
		{"far beyond it", "1.2.3+" + strings.Repeat("9", 30), tooLarge},
		{"no build number", "1.2.3", malformed},
		{"an empty build number", "1.2.3+", malformed},
		{"build number 0", "1.2.3+0", malformed},
		{"a leading zero", "1.02.3+4", malformed},
		{"a leading zero of the build number", "1.2.3+04", malformed},
		{"two numbers", "1.2+3", malformed},
		{"four numbers", "1.2.3.4+5", malformed},
		{"a name of a build", "1.2.3-beta+4", malformed},
		{"a build that is no number", "1.2.3+abc", malformed},
		{"a v", "v1.2.3+4", malformed},
		{"a line end", "1.2.3+4\n", malformed},
		{"nothing", "", malformed},
	})
}

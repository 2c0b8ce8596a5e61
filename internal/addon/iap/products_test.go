package iap

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestProductMaps(t *testing.T) {
	cases := []struct {
		name, text string
		want       []Product
		wrong      string // part of the sentence
	}{
		{"no text", "", nil, ""},
		{"no platform", "{}", []Product{}, ""},
		{"no product", `{"store":{}}`, []Product{}, ""},
		{"products come by id", ` { "store" : {"gold_monthly":2,"a.b_1":1} } `, []Product{{StoreID: "a.b_1", PackageID: 1}, {StoreID: "gold_monthly", PackageID: 2}}, ""},
		{"two products of one package", `{"store":{"a":1,"b":1}}`, []Product{{StoreID: "a", PackageID: 1}, {StoreID: "b", PackageID: 1}}, ""},
		{"not JSON", `{"store":{`, nil, "not valid JSON"},
		{"a list", `[]`, nil, "not a JSON object"},
		{"a text", `"x"`, nil, "not a JSON object"},
		{"null", `null`, nil, "not a JSON object"},
		{"something behind it", `{"store":{}} {}`, nil, "Unexpected text after the JSON object"},
		{"another platform", `{"play":{}}`, nil, `"play" is not known`},
		{"the platform in capitals", `{"Store":{}}`, nil, `"Store" is not known`},
		{"a platform twice", `{"store":{},"store":{}}`, nil, "occurs twice"},
		{"a list of products", `{"store":["a"]}`, nil, "must be a JSON object"},
		{"null for the products", `{"store":null}`, nil, "must be a JSON object"},
		{"a product twice", `{"store":{"a":1,"a":2}}`, nil, "a occurs twice"},
		{"a product twice in other letters of JSON", `{"store":{"a":1,"\u0061":2}}`, nil, "a occurs twice"},
		{"capitals", `{"store":{"Gold":1}}`, nil, "capital letters"},
		{"an empty product id", `{"store":{"":1}}`, nil, "missing"},
		{"a product id with a dash", `{"store":{"a-b":1}}`, nil, "invalid product id"},
		{"a product id with a space", `{"store":{"a b":1}}`, nil, "invalid product id"},
		{"a product id that begins with a dot", `{"store":{".a":1}}`, nil, "invalid product id"},
		{"a product id that is too long", `{"store":{"` + strings.Repeat("a", 149) + `":1}}`, nil, "invalid product id"},
		{"a package id in quotes", `{"store":{"a":"1"}}`, nil, "positive whole number"},
		{"a package id of 0", `{"store":{"a":0}}`, nil, "positive whole number"},
		{"a negative package id", `{"store":{"a":-1}}`, nil, "positive whole number"},
		{"a broken package id", `{"store":{"a":1.5}}`, nil, "positive whole number"},
		{"a package id as 1e0", `{"store":{"a":1e0}}`, nil, "positive whole number"},
		{"a package id that is too large", `{"store":{"a":9223372036854775808}}`, nil, "positive whole number"},
		{"a package id of null", `{"store":{"a":null}}`, nil, "positive whole number"},
		{"an object for a package id", `{"store":{"a":{}}}`, nil, "positive whole number"},
		{"no UTF-8", "{\"store\":{\"a\xff\":1}}", nil, "not valid JSON"},
		{"too large", `{"store":{}}` + strings.Repeat(" ", 128<<10), nil, "larger"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseProducts(c.text)
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) {
					t.Errorf("%v, %v; want an error about %q", got, err, c.wrong)
				}
				return
			}
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%v, %v; want %v", got, err, c.want)
			}
		})
	}
}

// What is accepted comes back the same from its printed form, which is JSON that
// holds lower-case products and positive packages alone.
func FuzzProductMap(f *testing.F) {
	for _, seed := range []string{
		"", "{}", `{"store":{}}`, `{"store":{"gold_monthly":1,"a.b":22}}`, `{"store":{"a":1,"\u0061":2}}`, `{"store":{"A":1}}`, `{"store":{"a":1e3}}`,
		`{"store":null}`, `[]`, `{"` + strings.Repeat("S", 1000) + `":{"a":1}}`, `{"store":{"a":1}}x`, "{\"store\":{\"a\xff\":1}}", `{"play":{}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseProducts(text)
		if err != nil {
			if err.Error() == "" || !utf8.ValidString(err.Error()) || len(err.Error()) > 1000 {
				t.Errorf("the error is %q", err)
			}
			return
		}
		for i, p := range list {
			if p.StoreID != strings.ToLower(p.StoreID) || p.StoreID == "" || p.PackageID <= 0 || (i > 0 && list[i-1].StoreID >= p.StoreID) {
				t.Errorf("%q gives %+v", text, list)
			}
		}
		printed := PrintProducts(list)
		again, err := ParseProducts(printed)
		if err != nil || len(again) != len(list) || PrintProducts(again) != printed {
			t.Errorf("%q is printed as %q, which gives %+v, %v", text, printed, again, err)
		}
	})
}

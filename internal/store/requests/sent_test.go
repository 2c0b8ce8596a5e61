package requests

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSecretsAreMasked(t *testing.T) {
	for _, tt := range []struct{ name, value, want string }{
		{"api_key", "csk_kJWlMUlhPuQRgklfTvP786Ub3uiUaSkdgROo4vrIFJr4MhmJy", ""},
		{"purchase_code", "7c0f3b1e-5d2a-4c44-9b1e-000000000001", "7c0f…01"},
		{"purchase_code", "short-code", "…"},
		{"purchase_code", "code with some spaces", "…"},
		{"purchase_code", " 7c0f3b1e-5d2a-4c44-9b1e-000000000001\n", "7c0f…01"},
		{"purchase_code", "", ""},
		{"item_id", "1001", "1001"},
		{"item_id", "1234567890123", "…"},
		{"item_id", "12a", "…"},
		{"domain", "shop.example", "…"},
		{"domain", "a-long-name.shop.example", "a-lo…le"},
		{"license_id", "ééééééééééééééééééé", "…"},
	} {
		var s Sent
		s.Add(InQuery, tt.name, tt.value)
		if diff := cmp.Diff([]Param{{InQuery, tt.name, tt.want}}, ParseSent(s.String())); diff != "" {
			t.Errorf("%s %q: %s", tt.name, tt.value, diff)
		}
	}
}

func TestParametersWithoutRoomAreLeftOut(t *testing.T) {
	var s Sent
	for i := range 20 {
		s.Add(InBody, fmt.Sprintf("param_%02d", i), "7c0f3b1e-5d2a-4c44-9b1e-000000000001")
	}
	list := ParseSent(s.String())
	if len(list) != 6 || list[5].Value != "7c0f…01" {
		t.Errorf("%q", s.String())
	}
}

func FuzzParseSent(f *testing.F) {
	f.Add("7c0f3b1e-5d2a-4c44-9b1e-000000000001", "hapi_key\nbpurchase_code=7c0f…01\n")
	f.Add("12", "\n\n=\nq\nb=")
	f.Fuzz(func(t *testing.T, value, text string) {
		ParseSent(text)
		for _, name := range []string{paramKey, "purchase_code", paramItem, "domain"} {
			var s Sent
			s.Add(InBody, name, value)
			list := ParseSent(s.String())
			if len(list) != 1 || list[0].Name != name || list[0].Place != InBody || len(list[0].Value) > maskBytes || name == paramKey && list[0].Value != "" {
				t.Errorf("%s %q is kept as %q", name, value, s.String())
			}
		}
	})
}

func TestEveryReasonHasASentence(t *testing.T) {
	for reason, text := range why {
		if text == "" || Why(reason) != text {
			t.Errorf("%q: %q", reason, text)
		}
	}
	if got := Why("brand_new"); got != "The call failed with the error code brand_new." {
		t.Error(got)
	}
}

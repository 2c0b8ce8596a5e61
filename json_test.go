package countersign

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

// TestWireForm holds the order of the members (the specification's tables), the two decimals, the form of empty lists
// and maps, and what is left out.
func TestWireForm(t *testing.T) {
	tests := []struct {
		file  string
		value any
	}{
		{file: "account.json", value: sampleAccount()},
		{file: "account-bare.json", value: Account{}},
		{file: "purchase.json", value: samplePurchase()},
		{file: "purchase-audio.json", value: audioPurchase()},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			want := golden(t, tt.file)
			got, err := EncodeJSON(tt.value)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("encodes as\n%s\n%v, want\n%s", got, err, want)
			}
		})
	}
}

// TestWireFormReadsBack decodes each file and encodes it again: nothing may get lost.
func TestWireFormReadsBack(t *testing.T) {
	for file, value := range map[string]any{
		"account.json": new(Account), "account-bare.json": new(Account),
		"purchase.json": new(Purchase), "purchase-audio.json": new(Purchase),
	} {
		want := golden(t, file)
		expect.NoErrorf(t, json.Unmarshal(want, value), "%s", file)
		if got, err := EncodeJSON(value); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s comes back as\n%s\n%v", file, got, err)
		}
	}
}

func TestLinksFromJSON(t *testing.T) {
	tests := []struct {
		rule string
		in   string
		want string // as printed; empty: refused
	}{
		{rule: "an object", in: `{"x":"https://x.example"}`, want: `{"x":"https://x.example"}`},
		{rule: "an empty array is an empty map", in: `[]`, want: `{}`},
		{rule: "white space in the empty array", in: `[ ]`, want: `{}`},
		{rule: "null is an empty map", in: `null`, want: `{}`},
		{rule: "a link that is null is absent", in: `{"x":null,"y":"z"}`, want: `{"y":"z"}`},
		{rule: "an array with something in it is refused", in: `["https://x.example"]`},
		{rule: "an array of null is refused", in: `[null]`},
		{rule: "a string is refused", in: `"x"`},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			got := Links{"left": "over"}
			err := json.Unmarshal([]byte(tt.in), &got)
			if tt.want == "" {
				if err == nil {
					t.Errorf("%s gives %v, want an error", tt.in, got)
				}
				return
			}
			if printed, _ := EncodeJSON(got); err != nil || string(printed) != tt.want {
				t.Errorf("%s gives %s, %v, want %s", tt.in, printed, err, tt.want)
			}
		})
	}
}

func TestAppendJSON(t *testing.T) {
	got, err := AppendJSON([]byte("data: "), "a<b>&c\n")
	if want := `data: "a<b>&c\n"`; string(got) != want || err != nil {
		t.Errorf("AppendJSON = %s, %v, want %s", got, err, want)
	}
	got, err = AppendJSON([]byte("kept"), func() {})
	if string(got) != "kept" || err == nil {
		t.Errorf("AppendJSON of a function = %s, %v", got, err)
	}
}

func golden(t *testing.T, file string) []byte {
	t.Helper()
	b := must.Get(os.ReadFile("testdata/" + file))(t)
	return bytes.TrimSuffix(b, []byte("\n"))
}

func mustTime(s string) Timestamp {
	ts, err := ParseTimestamp(s)
	if err != nil {
		panic(err)
	}
	return ts
}

func sampleAccount() Account {
	return Account{
		Name:     Name{Firstname: "Ada", Lastname: "Byron", FullName: "Ada Byron"},
		Username: "ada",
		Email:    "ada@shop.example",
		Balance:  -12050,
		Currency: "USD",
		Profile: Profile{
			Heading:     "Loops & more",
			Description: "<b>Sound</b>",
			Contact:     Contact{Email: "hello@shop.example"},
			SocialLinks: Links{"x": "https://x.example/ada", "facebook": "https://facebook.example/ada?a=1&b=2"},
			Media:       ProfileMedia{Avatar: "https://shop.example/a.png", Cover: "https://shop.example/c.png"},
		},
		RegisteredAt: mustTime("2024-04-27T12:00:00Z"),
	}
}

func samplePurchase() Purchase {
	until := mustTime("2025-04-27T12:00:00Z")
	return Purchase{
		PurchaseCode: "7c0f3b1e-2a50-4d3c-9f0e-5b1a2c3d4e5f",
		LicenseType:  LicenseRegular,
		Price:        4900,
		Currency:     "USD",
		Item: Item{
			ID: 1229, Name: "Rain Film", Description: "Rain on a window", Category: "Video", SubCategory: "Weather",
			Options: List{"4K", "Loop"}, Version: "1.10.0", DemoLink: "https://shop.example/demo/1229", Tags: List{"rain"},
			Media: ItemMedia{
				Thumbnail:    "https://shop.example/t.png",
				PreviewImage: new("https://shop.example/p.png"),
				PreviewVideo: new("https://shop.example/p.mp4"),
				Screenshots:  []string{"https://shop.example/1.png"},
			},
			Price: Price{Regular: 4900, Extended: 19990}, Currency: "USD", PublishedAt: mustTime("2024-04-27T12:00:00Z"),
		},
		SupportedUntil: &until,
		Downloaded:     true,
		Date:           mustTime("2024-04-28T08:30:00Z"),
	}
}

func audioPurchase() Purchase {
	return Purchase{
		PurchaseCode: "ABC",
		LicenseType:  LicenseExtended,
		Price:        19905,
		Currency:     "EUR",
		Item: Item{
			ID: 7, Name: "Rain Loop",
			Media: ItemMedia{Thumbnail: "https://shop.example/t.png", PreviewAudio: new("https://shop.example/p.mp3")},
			Price: Price{Regular: 99, Extended: 19905}, Currency: "EUR", PublishedAt: mustTime("2024-04-27T12:00:00Z"),
		},
		Date: mustTime("2024-04-28T08:30:00Z"),
	}
}

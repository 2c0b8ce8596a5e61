package rules

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/store/storedb"
)

func TestAPriceHasTheDecimalsOfItsCurrency(t *testing.T) {
	for _, c := range []struct {
		price    countersign.Money
		currency string
		good     bool
	}{{4950, "USD", true}, {4950, "JPY", false}, {490000, "JPY", true}, {450, "KWD", true}} {
		p := storedb.Purchase{Code: "a-code", License: "Regular", State: storedb.StateActive, SoldAt: published, Price: c.price, Currency: c.currency}
		if err := CheckPurchase(&p); (err == nil) != c.good || err != nil && fault.Message(err) != "price has decimals, which JPY does not have" {
			t.Errorf("%s %s: %v", c.price, c.currency, err)
		}
	}
}

func TestAllThatIsWrongIsSaidAtOnce(t *testing.T) {
	link := "nowhere"
	workspace := storedb.Workspace{Account: countersign.Account{Username: "a b", Email: "nobody", Currency: "eur"}}
	workspace.Account.Profile.SocialLinks = countersign.Links{"fediverse": "nowhere", " ": "https://site.example"}
	workspace.Switches.Quota = -1
	item := storedb.Item{Item: countersign.Item{Version: "one", Currency: "eur", DemoLink: link}, Kind: "text"}
	item.Media = countersign.ItemMedia{Thumbnail: link, PreviewImage: &link, Screenshots: []string{link}}
	sold := storedb.Purchase{SoldAt: countersign.At(time.Unix(1e9, 0)), SupportedUntil: countersign.At(time.Unix(1, 0)), Currency: "USD", BuyerEmail: "nobody"}
	for what, tt := range map[string]struct {
		err  error
		want []string
	}{
		"workspace": {CheckWorkspace(workspace), []string{"currency", "email", "quota", "registered_at", "social_links. ", "social_links.fediverse", "username"}},
		"item":      {CheckItem(item), []string{"currency", "demo_link", "id", "kind", "media.preview_image", "media.screenshots", "media.thumbnail", "name", "published_at", "version"}},
		"purchase":  {CheckSale(&sold), []string{"buyer.email", "license_type", "purchase_code", "state", "supported_until"}},
	} {
		if got := slices.Sorted(maps.Keys(fault.Of(tt.err).Fields)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: wrong are %q, want %q", what, got, tt.want)
		}
	}
}

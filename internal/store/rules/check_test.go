package rules

import (
	"testing"

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

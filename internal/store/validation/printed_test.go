package validation

import (
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store/storedb"
)

func TestPrintPrintsWhatTheEncoderPrints(t *testing.T) {
	until := countersign.At(time.Date(2025, 4, 27, 12, 0, 0, 0, time.UTC))
	item := countersign.Item{ID: 7, Name: "A <b> & \"c\" \u2028 é", Version: "1.2.3"}
	body := must.Get(countersign.EncodeJSON(item))(t)
	full := countersign.Purchase{
		PurchaseCode: "plain-code", LicenseType: countersign.LicenseRegular, Price: 4900, Currency: "USD", Item: item,
		SupportedUntil: &until, Downloaded: true, Date: until,
	}
	for name, change := range map[string]func(*countersign.Purchase){
		"all members":                    func(*countersign.Purchase) {},
		"without support":                func(p *countersign.Purchase) { p.SupportedUntil = nil },
		"a code with quotes and slashes": func(p *countersign.Purchase) { p.PurchaseCode = `a"b\c</script>&` },
		"not downloaded, extended, free": func(p *countersign.Purchase) {
			p.Downloaded, p.LicenseType, p.Price = false, countersign.LicenseExtended, 0
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := full
			change(&p)
			want, err := countersign.EncodeJSON(p)
			must.Do(t, err)
			text := storedb.PurchaseText{
				Code: []byte(p.PurchaseCode), License: p.LicenseType, Price: p.Price, Currency: p.Currency,
				Downloaded: p.Downloaded, SoldAt: []byte(p.Date.String()),
			}
			if p.SupportedUntil != nil {
				text.SupportedUntil = []byte(p.SupportedUntil.String())
			}
			printed := printPurchase(&text)
			if got := printed.before() + string(body) + printed.after(true); got != string(want) || printed.len() != len(got)-len(body) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			p.SupportedUntil = nil
			if want, err = countersign.EncodeJSON(p); err != nil {
				t.Fatal(err)
			}
			if got := printed.before() + string(body) + printed.after(false); got != string(want) {
				t.Errorf("without support: got  %s\nwant %s", got, want)
			}
		})
	}
}

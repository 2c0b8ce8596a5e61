package countersign

import (
	"testing"
	"time"
)

func TestPrintPrintsWhatTheEncoderPrints(t *testing.T) {
	until := At(time.Date(2025, 4, 27, 12, 0, 0, 0, time.UTC))
	item := Item{ID: 7, Name: "A <b> & \"c\" \u2028 é", Version: "1.2.3"}
	body, err := EncodeJSON(item)
	if err != nil {
		t.Fatal(err)
	}
	full := Purchase{
		PurchaseCode: "plain-code", LicenseType: LicenseRegular, Price: 4900, Currency: "USD", Item: item,
		SupportedUntil: &until, Downloaded: true, Date: until,
	}
	for name, change := range map[string]func(*Purchase){
		"all members":                    func(*Purchase) {},
		"without support":                func(p *Purchase) { p.SupportedUntil = nil },
		"a code with quotes and slashes": func(p *Purchase) { p.PurchaseCode = `a"b\c</script>&` },
		"not downloaded, extended, free": func(p *Purchase) { p.Downloaded, p.LicenseType, p.Price = false, LicenseExtended, 0 },
	} {
		t.Run(name, func(t *testing.T) {
			p := full
			change(&p)
			want, err := EncodeJSON(p)
			if err != nil {
				t.Fatal(err)
			}
			text := PurchaseText{
				PurchaseCode: []byte(p.PurchaseCode), LicenseType: p.LicenseType, Price: p.Price, Currency: p.Currency,
				Downloaded: p.Downloaded, Date: []byte(p.Date.String()),
			}
			if p.SupportedUntil != nil {
				text.SupportedUntil = []byte(p.SupportedUntil.String())
			}
			printed := text.Print()
			if got := printed.Before() + string(body) + printed.After(true); got != string(want) || printed.Len() != len(got)-len(body) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			p.SupportedUntil = nil
			if want, err = EncodeJSON(p); err != nil {
				t.Fatal(err)
			}
			if got := printed.Before() + string(body) + printed.After(false); got != string(want) {
				t.Errorf("without support: got  %s\nwant %s", got, want)
			}
		})
	}
}

package countersign

import (
	"strconv"
	"strings"
)

// The license types of a purchase (spec 2.4).
const (
	LicenseRegular  = "Regular"
	LicenseExtended = "Extended"
)

// Purchase is one sale of an item (spec 2.4). Price is what was paid, in Currency. SupportedUntil is nil when the item
// has no support or was sold without it; it stays when its time has passed.
type Purchase struct {
	PurchaseCode   string     `json:"purchase_code"`
	LicenseType    string     `json:"license_type"`
	Price          Money      `json:"price"`
	Currency       string     `json:"currency"`
	Item           Item       `json:"item"`
	SupportedUntil *Timestamp `json:"supported_until,omitempty"`
	Downloaded     bool       `json:"downloaded"`
	Date           Timestamp  `json:"date"`
}

// PrintedPurchase is a purchase as it is printed (spec 2.4): the JSON before and after the JSON of its item.
type PrintedPurchase struct{ Before, After string }

// Print prints the purchase without p.Item.
func (p Purchase) Print() PrintedPurchase {
	b := append(make([]byte, 0, 384), `{"purchase_code":`...)
	b = appendString(b, p.PurchaseCode)
	b = append(b, `,"license_type":`...)
	b = appendString(b, p.LicenseType)
	b = append(b, `,"price":`...)
	b = p.Price.append(b)
	b = append(b, `,"currency":`...)
	b = appendString(b, p.Currency)
	b = append(b, `,"item":`...)
	before := len(b)
	if p.SupportedUntil != nil {
		b = append(b, `,"supported_until":"`...)
		b = p.SupportedUntil.append(b)
		b = append(b, '"')
	}
	b = append(b, `,"downloaded":`...)
	b = strconv.AppendBool(b, p.Downloaded)
	b = append(b, `,"date":"`...)
	b = p.Date.append(b)
	b = append(b, `"}`...)
	text := string(b)
	return PrintedPurchase{Before: text[:before], After: text[before:]}
}

// appendString appends s as JSON; plain ASCII, which nearly all of it is, is copied.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := EncodeJSON(strings.Clone(s)) // a string always encodes; what is copied here need not live on the heap
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

package validation

import (
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store/storedb"
)

// printedPurchase is a purchase as it is printed (spec 2.4), all but its item.
type printedPurchase struct {
	text string
	// item is where the item belongs, and supported where the part about support ends.
	item, supported int
}

// before is the JSON before that of the item.
func (p printedPurchase) before() string { return p.text[:p.item] }

// after is the JSON after that of the item: with supported_until, if the purchase has it and it is wanted, or without.
func (p printedPurchase) after(support bool) string {
	if support {
		return p.text[p.item:]
	}
	return p.text[p.supported:]
}

// len is the length of all parts together, in bytes.
func (p printedPurchase) len() int { return len(p.text) }

// printPurchase prints a purchase. What it returns shares no memory with it.
func printPurchase(p *storedb.PurchaseText) printedPurchase {
	b := append(make([]byte, 0, 384), `{"purchase_code":`...)
	b = appendString(b, p.Code)
	b = append(b, `,"license_type":`...)
	b = appendString(b, p.License)
	b = append(b, `,"price":`...)
	b = p.Price.Append(b)
	b = append(b, `,"currency":`...)
	b = appendString(b, p.Currency)
	b = append(b, `,"item":`...)
	item := len(b)
	if len(p.SupportedUntil) > 0 {
		b = append(b, `,"supported_until":`...)
		b = appendString(b, p.SupportedUntil)
	}
	supported := len(b)
	b = append(b, `,"downloaded":`...)
	b = strconv.AppendBool(b, p.Downloaded)
	b = append(b, `,"date":`...)
	b = appendString(b, p.SoldAt)
	return printedPurchase{text: string(append(b, '}')), item: item, supported: supported}
}

// appendString appends s as JSON; plain ASCII, which nearly all of it is, is copied.
func appendString[T string | []byte](b []byte, s T) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := countersign.EncodeJSON(string(s)) // a string always encodes
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

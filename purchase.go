package countersign

import "strconv"

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

// PurchaseText is a purchase without its item, for printing (spec 2.4): its times as [Timestamp.String] prints them,
// SupportedUntil empty when it was sold without support.
type PurchaseText struct {
	PurchaseCode   []byte
	LicenseType    string
	Price          Money
	Currency       string
	SupportedUntil []byte
	Downloaded     bool
	Date           []byte
}

// PrintedPurchase is a purchase as it is printed (spec 2.4), all but its item.
type PrintedPurchase struct {
	text string
	// item is where the item belongs, and supported where the part about support ends.
	item, supported int
}

// Before is the JSON before that of the item.
func (p PrintedPurchase) Before() string { return p.text[:p.item] }

// After is the JSON after that of the item: with supported_until, if the purchase has it and it is wanted, or without.
func (p PrintedPurchase) After(support bool) string {
	if support {
		return p.text[p.item:]
	}
	return p.text[p.supported:]
}

// Len is the length of all parts together, in bytes.
func (p PrintedPurchase) Len() int { return len(p.text) }

// Print prints the purchase. What it returns shares no memory with it.
func (p PurchaseText) Print() PrintedPurchase {
	b := append(make([]byte, 0, 384), `{"purchase_code":`...)
	b = appendString(b, p.PurchaseCode)
	b = append(b, `,"license_type":`...)
	b = appendString(b, p.LicenseType)
	b = append(b, `,"price":`...)
	b = p.Price.append(b)
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
	b = appendString(b, p.Date)
	return PrintedPurchase{text: string(append(b, '}')), item: item, supported: supported}
}

// appendString appends s as JSON; plain ASCII, which nearly all of it is, is copied.
func appendString[T string | []byte](b []byte, s T) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := EncodeJSON(string(s)) // a string always encodes
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

package countersign

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

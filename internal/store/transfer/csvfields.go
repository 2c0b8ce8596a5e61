package transfer

import (
	"slices"
	"strings"
	"unicode"

	"github.com/countersign/countersign/internal/sqldb"
)

// field is something that a column of CSV can hold.
type field[L any] struct {
	name string
	// others are names that exports of other shops have for it.
	others []string
	// column is where the database keeps it, for fields that a file may leave out.
	column string
	set    func(line *L, cell string, in reading) error
}

// purchaseFields are the columns of a file of purchases.
var purchaseFields = []field[purchaseLine]{
	{"purchase_code", []string{"code", "license code", "licence code", "license key", "item purchase code"}, "", text(func(l *purchaseLine) *string { return &l.PurchaseCode })},
	{"item_id", []string{"product id", "item", "product"}, "", text(func(l *purchaseLine) *string { return &l.sold.item })},
	{licenseField, []string{"license", "licence", "licence type"}, "", func(l *purchaseLine, cell string, _ reading) error { l.LicenseType = readLicenseType(cell); return nil }},
	{"variant", []string{"variants", "variation", "variant name"}, "", func(l *purchaseLine, cell string, _ reading) error { l.sold.variant = cell; return nil }},
	{priceField, []string{"amount", "item price", "sale price"}, "price", func(l *purchaseLine, cell string, in reading) error { return l.setPrice(cell, in, false) }},
	{unitPriceField, nil, "price", func(l *purchaseLine, cell string, in reading) error { return l.setPrice(cell, in, true) }},
	{"currency", []string{"currency code"}, "", currency(func(l *purchaseLine) *string { return &l.Currency })},
	{"supported_until", []string{"support until", "support ends", "support expires", "support expiry date"}, "supported_until", optionalDate(func(l *purchaseLine) **timestamp { return &l.SupportedUntil })},
	{"downloaded", nil, "downloaded", yesNo(func(l *purchaseLine) *bool { return &l.Downloaded })},
	{"date", []string{"sale date", "sold", "sold at", "purchase date", "purchased at", "order date"}, "", date(func(l *purchaseLine) *timestamp { return &l.Date })},
	{stateField, []string{"status", "order status", "payment status", "financial status", "sale status", "license status"}, "state", func(l *purchaseLine, cell string, in reading) error { return l.sold.readState(cell, in) }},
	{"refunded", []string{"fully refunded", "is refunded"}, "state", yesNo(func(l *purchaseLine) *bool { return &l.sold.refunded })},
	{"refunded_amount", []string{"amount refunded"}, "state", func(l *purchaseLine, cell string, in reading) (err error) {
		l.sold.refund, l.sold.refundMark, err = in.readMoney(cell, l.Currency)
		return err
	}},
	{refundOfField, nil, "state", text(func(l *purchaseLine) *string { return &l.sold.refundOf })},
	{"refund_id", []string{"refund number", "refund transaction id"}, "", text(func(l *purchaseLine) *string { return &l.sold.refundID })},
	{"disputed", []string{"chargebacked", "charged back"}, "state", yesNo(func(l *purchaseLine) *bool { return &l.sold.disputed })},
	{"dispute_won", nil, "state", yesNo(func(l *purchaseLine) *bool { return &l.sold.disputeWon })},
	{"revoked", []string{"access revoked"}, "state", yesNo(func(l *purchaseLine) *bool { return &l.sold.revoked })},
	{"license_enabled", []string{"license key enabled", "enabled"}, "state", except(func(l *purchaseLine) *bool { return &l.sold.disabled })},
	{"paid", []string{"captured"}, "", except(func(l *purchaseLine) *bool { return &l.sold.notPaid })},
	{unpaidField, nil, "", func(l *purchaseLine, cell string, _ reading) error {
		unpaid, err := readYesNo(cell)
		l.sold.unpaid = l.sold.unpaid || unpaid
		return err
	}},
	{"cancelled", []string{"canceled", "cancelled at", "canceled at"}, "", func(l *purchaseLine, cell string, _ reading) error {
		l.sold.cancelled = !isNever(cell)
		return nil
	}},
	{"renewal", nil, "", yesNo(func(l *purchaseLine) *bool { return &l.sold.renewal })},
	{"test", []string{"test mode", "is test", "mode"}, "", func(l *purchaseLine, cell string, _ reading) (err error) {
		l.sold.test, err = readTest(cell)
		return err
	}},
	{"state_at", nil, "state_at", optionalDate(func(l *purchaseLine) **timestamp { return &l.StateAt })},
	{"buyer_name", []string{"buyer", "buyer username", "customer", "customer name"}, "buyer_name", text(func(l *purchaseLine) *string { return &l.Buyer.Name })},
	{"buyer_email", []string{"email", "customer email"}, "buyer_email", text(func(l *purchaseLine) *string { return &l.Buyer.Email })},
}

// The fields that are more than a cell of a row: several columns may be one, it is about the sale of
// another row, or other columns or rows may say it, too.
const (
	stateField     = "state"
	unpaidField    = "unpaid"
	refundOfField  = "refund_of"
	licenseField   = "license_type"
	priceField     = "price"
	unitPriceField = "unit_price"
)

// mayRepeat reports whether several columns may be a field.
func mayRepeat(field string) bool { return field == stateField || field == unpaidField }

// itemFields are the columns of a file of items.
var itemFields = []field[itemLine]{
	{"id", []string{"item id", "product id"}, "", number(func(l *itemLine) *int64 { return &l.ID })},
	{"kind", nil, "", func(l *itemLine, cell string, _ reading) error { l.Kind = kind(strings.ToLower(cell)); return nil }},
	{"support", []string{"supported"}, "", yesNo(func(l *itemLine) *bool { return &l.Support })},
	{"name", []string{"item name", "product name", "title"}, "", text(func(l *itemLine) *string { return &l.Name })},
	{"description", nil, "", text(func(l *itemLine) *string { return &l.Description })},
	{"category", nil, "", text(func(l *itemLine) *string { return &l.Category })},
	{"sub_category", nil, "", text(func(l *itemLine) *string { return &l.SubCategory })},
	{"options", nil, "", list(func(l *itemLine) *texts { return &l.Options })},
	{"version", nil, "", func(l *itemLine, cell string, _ reading) error { l.Version = version(cell); return nil }},
	{"demo_link", []string{"demo", "demo url"}, "", text(func(l *itemLine) *string { return &l.DemoLink })},
	{"tags", []string{"keywords"}, "", list(func(l *itemLine) *texts { return &l.Tags })},
	{"thumbnail", []string{"media thumbnail", "thumbnail url"}, "", text(func(l *itemLine) *string { return &l.Media.Thumbnail })},
	{"preview_image", []string{"media preview image"}, "", link(func(l *itemLine) **string { return &l.Media.PreviewImage })},
	{"preview_video", []string{"media preview video"}, "", link(func(l *itemLine) **string { return &l.Media.PreviewVideo })},
	{"preview_audio", []string{"media preview audio"}, "", link(func(l *itemLine) **string { return &l.Media.PreviewAudio })},
	{"screenshots", []string{"media screenshots"}, "", func(l *itemLine, cell string, _ reading) error { l.Media.Screenshots = readList(cell); return nil }},
	{"regular", []string{"price regular", "regular price", "price"}, "", func(l *itemLine, cell string, in reading) error { return l.setPrice(&l.Price.Regular, cell, in) }},
	{"extended", []string{"price extended", "extended price"}, "", func(l *itemLine, cell string, in reading) error { return l.setPrice(&l.Price.Extended, cell, in) }},
	{"currency", []string{"currency code"}, "", currency(func(l *itemLine) *string { return &l.Currency })},
	{"published_at", []string{"published", "publish date", "date"}, "", date(func(l *itemLine) *timestamp { return &l.PublishedAt })},
}

// The fields that every row needs.
var (
	purchaseRequired = []string{"purchase_code", "item_id", "license_type", "currency", "date"}
	itemRequired     = []string{"id"}
)

// fold makes the names of columns alike that differ in the case of letters, spaces and
// punctuation. A name without letters and digits stays.
func fold(name string) string {
	folded := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
	if folded == "" {
		return strings.TrimSpace(name)
	}
	return folded
}

// namedField returns the field that has a name, among all of a kind of file.
func namedField[L any](fields []field[L], name string) (field[L], bool) {
	folded := fold(name)
	i := slices.IndexFunc(fields, func(f field[L]) bool {
		return folded == fold(f.name) || slices.ContainsFunc(f.others, func(other string) bool { return folded == fold(other) })
	})
	if folded == "" || i < 0 {
		return field[L]{}, false
	}
	return fields[i], true
}

// namesOf lists the fields of a kind of file, for messages.
func namesOf[L any](fields []field[L]) string {
	names := namesIn(fields)
	all := strings.Join(names, ", ")
	if names[0] == "id" {
		return "fields of items are: " + all + "; a file of purchases has a column that is purchase_code"
	}
	return "fields of purchases are: " + all
}

func namesIn[L any](fields []field[L]) []string {
	return sqldb.Convert(fields, func(f field[L]) string { return f.name })
}

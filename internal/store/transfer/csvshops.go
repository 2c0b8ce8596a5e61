package transfer

import (
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/store/storedb"
)

// shop is a shop or payment provider whose export is recognized by its columns.
type shop struct {
	name string
	// needs are columns that tell the export apart.
	needs []string
	// columns are the columns that matter with their fields, "" for one that may be ignored although
	// its name speaks of refunds. Of several with one field, the first that the file has counts.
	columns [][2]string
	// set has the values of fields that the file does not have.
	set map[string]string
	// words are what the words of states mean, where that is not usual.
	words map[storedb.State]string
	// cents reports that amounts are in the smallest coins.
	cents bool
	// order is the column that is equal in rows of one order, whose later rows leave out what the first has.
	order string
	// total is the column of amounts that are those of a whole order.
	total string
	// read makes a cell what it is about, by its column.
	read map[string]func(string) string
	// refuse is why nothing of it can be imported.
	refuse string
}

var regularLicense = map[string]string{"license_type": "Regular"}

// paypalTypes are the rows of an activity report that move money without a sale.
const paypalTypes = "generalwithdrawal generalcurrencyconversion currencyconversion bankdeposittoppaccount generalauthorization authorization accountholdforopenauthorization reversalofgeneralaccounthold " +
	"paymenthold paymentrelease fundsnotyetavailable fundspayable generalhold holdonbalancefordisputeinvestigation cancellationofholdfordisputeresolution disputefee chargebackfee userinitiatedwithdrawal transfer"

// shops are the exports that are recognized. The first that fits counts.
var shops = []*shop{
	{name: "Envato", needs: []string{"Order ID", "Type", "Detail", "Item ID", "Amount"},
		refuse: "This is a statement of Envato. It has no purchase codes, so nothing of it can be imported. Purchase codes are in the verification API and in files of sales that name them"},
	{name: "Gumroad", needs: []string{"License Key", "Purchase Email", "Fully Refunded?"}, set: map[string]string{"license_type": "Regular", "currency": "USD"},
		columns: [][2]string{{"License Key", "purchase_code"}, {"Item Name", "item_id"}, {"Variants", "variant"}, {"Sale Price ($)", "price"}, {"Purchase Date", "date"},
			{"Buyer Name", "buyer_name"}, {"Purchase Email", "buyer_email"}, {"Fully Refunded?", "refunded"}, {"Disputed?", "disputed"}, {"Dispute Won?", "dispute_won"},
			{"Access Revoked?", "revoked"}, {"License Key Enabled?", "license_enabled"}, {"Recurring Charge?", "renewal"}, {"Free trial purchase?", "unpaid"}, {"Pre-order authorization?", "unpaid"}, {"Cancellation Date", ""}, {"Refunded?", ""}, {"Partial Refund ($)", ""}, {"Buyer Refunded Total", ""}}},
	{name: "Lemon Squeezy", needs: []string{"user_email", "store_id", "order_id", "key"}, set: regularLicense,
		words: map[storedb.State]string{storedb.StateActive: "inactive"},
		columns: [][2]string{{"key", "purchase_code"}, {"product_name", "item_id"}, {"product_id", "item_id"}, {"variant_name", "variant"}, {"currency", "currency"}, {"created_at", "date"},
			{"user_name", "buyer_name"}, {"user_email", "buyer_email"}, {"status", "state"}, {"disabled", "revoked"}, {"test_mode", "test"}, {"status_formatted", ""}}},
	{name: "Lemon Squeezy", needs: []string{"user_email", "store_id", "order_number", "refunded"}, set: regularLicense, cents: true,
		columns: [][2]string{{"license_key", "purchase_code"}, {"key", "purchase_code"}, {"product_name", "item_id"}, {"variant_name", "variant"}, {"total", "price"}, {"currency", "currency"}, {"created_at", "date"},
			{"user_name", "buyer_name"}, {"user_email", "buyer_email"}, {"status", "state"}, {"refunded", "refunded"}, {"refunded_amount", "refunded_amount"}, {"test_mode", "test"},
			{"status_formatted", ""}, {"refunded_at", ""}, {"refunded_amount_usd", ""}, {"refunded_amount_formatted", ""}}},
	{name: "WooCommerce", needs: []string{"order_id", "order_total", "billing_email"}, order: "order_id", total: "order_total", set: regularLicense, words: wooWords,
		columns: [][2]string{{"license_keys", "purchase_code"}, {"license_key", "purchase_code"}, {"line_item_name", "item_id"}, {"product_name", "item_id"}, {"line_item_product_id", "item_id"}, {"product_id", "item_id"},
			{"line_item_variation", "variant"}, {"variation", "variant"}, {"line_item_total", "price"}, {"line_total", "price"}, {"item_total", "price"}, {"order_total", "price"}, {"order_currency", "currency"}, {"order_date", "date"}, {"status", "state"}, {"order_status", "state"},
			{"billing_full_name", "buyer_name"}, {"billing_last_name", "buyer_name"}, {"billing_email", "buyer_email"}, {"total_refunded", "refunded_amount"}, {"refunded_total", "refunded_amount"}, {"order_refund", "refunded_amount"}}},
	{name: "License Manager for WooCommerce", needs: []string{"license_key", "times_activated_max", "order_id"}, set: regularLicense,
		words:   map[storedb.State]string{storedb.StateActive: "sold delivered 1 2", StateSkipped: "active inactive 3 4", storedb.StateRevoked: "disabled 5"},
		columns: [][2]string{{"license_key", "purchase_code"}, {"product_name", "item_id"}, {"product_id", "item_id"}, {"created_at", "date"}, {"expires_at", "supported_until"}, {"status", "state"}, {"user_email", "buyer_email"}}},
	{name: "Software Add-on for WooCommerce", needs: []string{"license_key", "software_product_id", "activation_email"}, set: regularLicense,
		columns: [][2]string{{"license_key", "purchase_code"}, {"software_product_id", "item_id"}, {"created", "date"}, {"activation_email", "buyer_email"}}},
	{name: "Easy Digital Downloads", needs: []string{"Purchase Key", "Products (Raw)"}, set: regularLicense, read: map[string]func(string) string{"productsraw": rawProduct},
		words: map[storedb.State]string{StateSkipped: "processing"},
		columns: [][2]string{{"License Key", "purchase_code"}, {"License Keys", "purchase_code"}, {"Purchase Key", "purchase_code"}, {"Products (Raw)", "item_id"}, {"Products (Verbose)", "variant"}, {"Amount", "price"}, {"Currency", "currency"}, {"Date", "date"},
			{"Customer Name", "buyer_name"}, {"Last Name", "buyer_name"}, {"Email", "buyer_email"}, {"Status", "state"}, {"Mode (Live|Test)", "test"}}},
	{name: "Payhip", needs: []string{"License Key", "Product", "Order ID", "Email"}, set: regularLicense,
		columns: [][2]string{{"License Key", "purchase_code"}, {"Product", "item_id"}, {"Variant", "variant"}, {"Price", "price"}, {"Currency", "currency"}, {"Date", "date"},
			{"Name", "buyer_name"}, {"Email", "buyer_email"}, {"Status", "state"}, {"Refunded", "refunded"}, {"Refunded Amount", "refunded_amount"}}},
	{name: "Stripe", needs: []string{"id", "Amount Refunded", "Captured"}, set: regularLicense,
		words: map[storedb.State]string{storedb.StateActive: "won warningclosed", storedb.StateChargedBack: "lost needsresponse underreview warningneedsresponse warningunderreview chargerefunded",
			StateSkipped: "requirespaymentmethod requiresaction requirescapture requiresconfirmation incomplete uncaptured blocked"},
		columns: [][2]string{{"license_key (metadata)", "purchase_code"}, {"purchase_code (metadata)", "purchase_code"}, {"id", "purchase_code"}, {"item_id (metadata)", "item_id"}, {"product (metadata)", "item_id"}, {"Description", "item_id"},
			{"license (metadata)", "variant"}, {"Amount", "price"}, {"Amount Refunded", "refunded_amount"}, {"Currency", "currency"}, {"Created date (UTC)", "date"}, {"Created (UTC)", "date"},
			{"Customer Email", "buyer_email"}, {"Status", "state"}, {"Dispute Status", "state"}, {"Captured", "paid"}, {"Mode", "test"},
			{"Converted Amount Refunded", ""}, {"Refunded date (UTC)", ""}, {"Disputed Amount", ""}, {"Dispute Date (UTC)", ""}, {"Dispute Evidence Due (UTC)", ""}, {"Dispute Reason", ""}}},
	{name: "PayPal", needs: []string{"Transaction ID", "Gross", "Type", "Status"}, set: regularLicense,
		words: map[storedb.State]string{
			storedb.StateActive:      "websitepayment expresscheckoutpayment mobilepayment generalpayment subscriptionpayment preapprovedpaymentbilluserpayment paymentreviewcompleted cleared",
			storedb.StateRefunded:    "paymentrefund",
			storedb.StateChargedBack: "paymentreversal chargeback",
			StateSkipped:             "held placed removed unclaimed returned " + paypalTypes},
		columns: [][2]string{{"Transaction ID", "purchase_code"}, {"Item Title", "item_id"}, {"Subject", "item_id"}, {"Option 1 Value", "variant"}, {"Gross", "price"}, {"Currency", "currency"}, {"Date", "date"},
			{"Name", "buyer_name"}, {"From Email Address", "buyer_email"}, {"Type", "state"}, {"Status", "state"}, {"Reference Txn ID", refundOfField}, {"Address Status", ""}}},
	{name: "Shopify", needs: []string{"Financial Status", "Lineitem name"}, set: regularLicense, order: "Name", total: "Total", read: map[string]func(string) string{"noteattributes": noteCode},
		words: map[storedb.State]string{StateSkipped: "expired partiallypaid"},
		columns: [][2]string{{"License Key", "purchase_code"}, {"Note Attributes", "purchase_code"}, {"Lineitem name", "item_id"}, {"Lineitem price", "unit_price"}, {"Total", "price"}, {"Currency", "currency"}, {"Created at", "date"},
			{"Billing Name", "buyer_name"}, {"Email", "buyer_email"}, {"Financial Status", "state"}, {"Cancelled at", "cancelled"}, {"Fulfillment Status", ""}, {"Lineitem fulfillment status", ""}, {"Refunded Amount", ""}}},
}

// wooWords are the states of orders, with and without the prefix that the database has.
var wooWords = map[storedb.State]string{
	storedb.StateActive:   "processing wcprocessing wccompleted",
	storedb.StateRefunded: "wcrefunded",
	StateSkipped:          "wcfailed wcpending wccancelled wconhold wccheckoutdraft",
}

// rawProduct is the name of "Theme|49.00", as Easy Digital Downloads writes what was bought. Several
// products stay together, and are no item.
func rawProduct(cell string) string {
	if strings.Contains(cell, " / ") {
		return cell
	}
	name, _, _ := strings.Cut(cell, "|")
	return strings.TrimSpace(name)
}

// noteCode is the value of the note of an order that is called a code, a key or a license, or all of the notes.
func noteCode(cell string) string {
	for line := range strings.Lines(cell) {
		name, value, ok := strings.Cut(line, ":")
		if ok && slices.ContainsFunc([]string{"code", "key", "license", "licence", "serial"}, func(word string) bool { return strings.Contains(strings.ToLower(name), word) }) {
			return strings.TrimSpace(value)
		}
	}
	return cell
}

// shopOf finds whose export has these columns, nil for nobody's.
func shopOf(header []string) *shop {
	has := foldedSet(header)
	i := slices.IndexFunc(shops, func(s *shop) bool {
		return !slices.ContainsFunc(s.needs, func(name string) bool { return !has[fold(name)] })
	})
	if i < 0 {
		return nil
	}
	return shops[i]
}

func foldedSet(names []string) map[string]bool {
	all := make(map[string]bool, len(names))
	for _, name := range names {
		all[fold(name)] = true
	}
	return all
}

// fieldsIn are the fields of all columns of a file by their folded names, "" for those that do not matter.
func (s *shop) fieldsIn(header []string) map[string]string {
	all, taken, has := map[string]string{}, map[string]bool{}, foldedSet(header)
	for name := range has {
		all[name] = ""
	}
	for _, c := range s.columns {
		name, field := fold(c[0]), c[1]
		is := field
		if field == unitPriceField {
			is = priceField
		}
		if has[name] && (!taken[is] || mayRepeat(field)) {
			all[name], taken[is] = field, true
		}
	}
	return all
}

// ignores reports whether a column, by its folded name, may be ignored in an export of the shop.
func (s *shop) ignores(name string) bool {
	return s != nil && slices.ContainsFunc(s.columns, func(c [2]string) bool { return c[1] == "" && fold(c[0]) == name })
}

// use has a file read as the export of a shop, where nobody has said otherwise.
func (p *csvPlan) use(s *shop) error {
	if s == nil {
		return nil
	}
	if s.refuse != "" {
		return fault.Invalid("csv_statement", s.refuse)
	}
	p.shop, p.shopFields = s, s.fieldsIn(p.header)
	p.reading.shop, p.reading.cents = words(s.words), p.reading.cents || s.cents
	for i, name := range p.header {
		if s.order != "" && fold(name) == fold(s.order) {
			p.order = i + 1
		}
	}
	return nil
}

// findSums finds whether the price of a row is that of its whole order.
func (p *csvPlan) findSums() {
	for i, field := range p.fields {
		p.sums = p.sums || p.shop != nil && p.shop.total != "" && field == priceField && fold(p.header[i]) == fold(p.shop.total)
	}
}

// continueOrder fills what a later row of an order leaves out. before are the cells of the row before it,
// nil for none.
func (p *csvPlan) continueOrder(cells, before []string) {
	at := p.order - 1
	if before == nil || cells[at] == "" || cells[at] != before[at] {
		return
	}
	for i, cell := range cells {
		if cell == "" && p.target(i) != "" {
			cells[i] = before[i]
		}
	}
}

// aloneInOrder are the cells of a row that has what the first row of its order says, without the total: when the
// row comes again without the others, that is not its price.
func (p *csvPlan) aloneInOrder(cells []string) []string {
	cells = slices.Clone(cells)
	if p.sale == nil {
		return cells
	}
	if l, _ := p.sale(cells); l.sold.noPrice {
		cells[slices.Index(p.fields, priceField)] = ""
	}
	return cells
}

// shopCells makes the cells of a row what they are about.
func (p *csvPlan) shopCells(cells []string) []string {
	if p.shop == nil || p.shop.read == nil {
		return cells
	}
	cells = slices.Clone(cells)
	for i, name := range p.header {
		if read := p.shop.read[fold(name)]; read != nil {
			cells[i] = read(cells[i])
		}
	}
	return cells
}

package transfer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
)

// wooOrders is an export with rows like "7 78.00 CODE-1 0", which are the number and the total of an order, a code, and
// what was paid back of the order. Behind them may be the price of the row.
func wooOrders(rows ...string) string {
	file := "order_id,order_date,status,billing_email,order_total,order_currency,line_item_name,license_key,total_refunded"
	if strings.Count(rows[0], " ") == 4 {
		file += ",line_item_total"
	}
	for _, row := range rows {
		c := strings.SplitN(row, " ", 5)
		file += fmt.Sprintf("\n%s,2026-04-27,completed,a@b.example,%s,USD,Theme,%s,%s", c[0], c[1], c[2], strings.Join(c[3:], ","))
	}
	return file + "\n"
}

// shopifyOrders is an export with rows like "#1 paid 78.00 CODE-1" and, if it has one, the price of the row.
func shopifyOrders(rows ...string) string {
	file := "Name,Email,Financial Status,Currency,Created at,Lineitem name,License Key"
	if strings.Count(rows[0], " ") == 4 {
		file += ",Lineitem price"
	}
	file += ",Total"
	for _, row := range rows {
		c := strings.Split(row, " ")
		file += fmt.Sprintf("\n%s,a@b.example,%s,USD,2026-04-27,Theme,%s", c[0], c[1], strings.Join(append(c[3:], c[2]), ","))
	}
	return file + "\n"
}

func intoTheme() transfer.ImportOptions {
	return transfer.ImportOptions{SkipBad: true, CSV: &transfer.CSVOptions{Workspace: "ada", Split: true, Items: map[string]int64{"Theme": 1}}}
}

// pricesAndStates are the purchases with their codes, prices and states.
func pricesAndStates(t *testing.T, f *storetest.Fixture) string {
	t.Helper()
	var all []string
	for _, p := range purchasesOf(t, f) {
		all = append(all, fmt.Sprintf("%s %s %s", p.Code, p.Price, p.State))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func TestTheTotalOfAnOrderIsNotThePriceOfItsRows(t *testing.T) {
	const part = "a part of the order was paid back, and the order has several rows"
	cases := []struct {
		name, file, want string
		bad              map[int]string
		noPrice          int
	}{
		{"an order of one row", wooOrders("7 78.00 CODE-1 0"), "CODE-1 78.00 active", nil, 0},
		{"an order of two rows", wooOrders("7 78.00 CODE-1 0", "7 78.00 CODE-2 0"), "CODE-1 0.00 active, CODE-2 0.00 active", nil, 2},
		{"rows of an order that are apart", wooOrders("7 78.00 CODE-1 0", "8 49.00 CODE-2 0", "7 78.00 CODE-3 0"), "CODE-1 0.00 active, CODE-2 49.00 active, CODE-3 0.00 active", nil, 2},
		{"rows that have prices of their own", wooOrders("7 49.00 CODE-1 0", "7 29.00 CODE-2 0"), "CODE-1 49.00 active, CODE-2 29.00 active", nil, 0},
		{"prices beside the total", wooOrders("7 78.00 CODE-1 0 49.00", "7 78.00 CODE-2 0 29.00"), "CODE-1 49.00 active, CODE-2 29.00 active", nil, 0},
		{"all of an order was paid back", wooOrders("7 78.00 CODE-1 78.00", "7 78.00 CODE-2 78.00"), "CODE-1 0.00 refunded, CODE-2 0.00 refunded", nil, 2},
		{"a part of an order was paid back", wooOrders("7 78.00 CODE-1 49.00", "7 78.00 CODE-2 49.00"), "", map[int]string{2: part, 3: part}, 0},
		{"a part beside prices", wooOrders("7 78.00 CODE-1 49.00 49.00", "7 78.00 CODE-2 49.00 29.00"), "", map[int]string{2: part, 3: part}, 0},
		{"all beside prices", wooOrders("7 78.00 CODE-1 78.00 49.00", "7 78.00 CODE-2 78.00 29.00"), "CODE-1 49.00 refunded, CODE-2 29.00 refunded", nil, 0},
		{"what was paid back of each row", wooOrders("7 78.00 CODE-1 49.00 49.00", "7 78.00 CODE-2 0 29.00"), "CODE-1 49.00 refunded, CODE-2 29.00 active", nil, 0},
		{"a total in the first row alone", shopifyOrders("#1 paid 78.00 CODE-1", "#1   CODE-2"), "CODE-1 0.00 active, CODE-2 0.00 active", nil, 2},
		{"a total behind the prices", shopifyOrders("#1 paid 78.00 CODE-1 49.00", "#1   CODE-2 29.00"), "CODE-1 49.00 active, CODE-2 29.00 active", nil, 0},
		{"a part by the word of the state", shopifyOrders("#1 partially_refunded 78.00 CODE-1 49.00", "#1   CODE-2 29.00", "#2 partially_refunded 49.00 CODE-3 49.00"), "CODE-3 49.00 active", map[int]string{2: part, 3: part}, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			storetest.EitherShops(t, func(t *testing.T, f *storetest.Fixture) {
				report, bad := f.ImportText(t, c.file, intoTheme())
				wantLines(t, bad, c.bad)
				if got := pricesAndStates(t, f); got != c.want || report.NoPrice.Count != c.noPrice {
					t.Errorf("%s, want %s; %d without a price", got, c.want, report.NoPrice.Count)
				}
			})
		})
	}
}

func TestTheTotalOfAnOrderStaysOutWhenOneOfItsRowsComesAgain(t *testing.T) {
	storetest.EitherShops(t, func(t *testing.T, f *storetest.Fixture) {
		var rejected []string
		o := intoTheme()
		o.Bad = func(_ int, _ string, raw []byte) { rejected = append(rejected, string(raw)) }
		file := wooOrders("7 78.00 CODE-1 0", "7 78.00 CODE-2 0")
		if _, err := f.Transfer.Import(t.Context(), storetest.Operator, strings.NewReader(strings.Replace(file, "Theme,CODE-1", "Them,CODE-1", 1)), o); err != nil || len(rejected) != 1 {
			t.Fatal(err, rejected)
		}
		f.ImportText(t, strings.Replace(rejected[0], "Them,", "Theme,", 1), intoTheme())
		expect.Equal(t, pricesAndStates(t, f), "CODE-1 0.00 active, CODE-2 0.00 active")
		f.ImportText(t, wooOrders("7 78.00 CODE-1 0 49.00", "7 78.00 CODE-2 0 29.00"), intoTheme())
		f.ImportText(t, file, intoTheme())
		expect.Equalf(t, pricesAndStates(t, f), "CODE-1 49.00 active, CODE-2 29.00 active", "prices that the store has")
	})
}

func TestAPartThatWasPaidBackTakesNoCodeByChance(t *testing.T) {
	const header, part = "code,item,license,currency,date,%s,state,refunded_amount,refund_of\n", "a part was paid back, and the row does not say of which purchase code"
	cases := []struct {
		name, price, rows, want string
		bad                     map[int]string
	}{
		{"the share of one code, by another row", "price", "A-001;A-002,98,paid,,\nR-001,-49,refunded,,A-001\n", "A-001 49.00 refunded, A-002 49.00 active", nil},
		{"the shares of both codes", "price", "A-001;A-002,98,paid,,\nR-001,-49,refunded,,A-001\nR-002,-49,refunded,,A-002\n", "A-001 49.00 refunded, A-002 49.00 refunded", nil},
		{"parts of a share that add up", "price", "A-001;A-002,98,paid,,\nR-001,-20,refunded,,A-001\nR-002,-29,refunded,,A-001\n", "A-001 49.00 refunded, A-002 49.00 active", nil},
		{"more than the share of the named code", "price", "A-001;A-002,98,paid,,\nR-001,-98,refunded,,A-001\n", "A-001 49.00 refunded, A-002 49.00 refunded", nil},
		{"all of the row", "price", "A-001;A-002,98,paid,98,\n", "A-001 49.00 refunded, A-002 49.00 refunded", nil},
		{"two rows of one code that do not add up by themselves", "price", "A-001,49,paid,20,\nA-001,49,paid,29,\n", "", map[int]string{2: "differ in refunded_amount", 3: "differ in refunded_amount"}},
		{"the row of a sale twice", "price", "A-001,49,paid,20,\nA-001,49,paid,20,\n", "A-001 49.00 active", nil},
		{"a refund that is pending", "price", "A-001,49,paid,,\nR-001,-49,pending,,A-001\n", "A-001 49.00 refunded", nil},
		{"less than a share", "price", "A-001;A-002,98,paid,10,\n", "A-001 49.00 active, A-002 49.00 active", nil},
		{"as much as a share", "price", "A-001;A-002,98,paid,49,\n", "", map[int]string{2: part}},
		{"as much as one of uneven shares", "price", "A-001;A-002,99.01,paid,49.50,\n", "", map[int]string{2: part}},
		{"a price for each code, one of them paid back", "unit_price", "A-001;A-002,49,paid,49,\n", "", map[int]string{2: part}},
		{"a price for each code, all paid back", "unit_price", "A-001;A-002,49,paid,98,\n", "A-001 49.00 refunded, A-002 49.00 refunded", nil},
		{"codes without a price", "price", "A-001;A-002,,paid,,\n", "A-001 0.00 active, A-002 0.00 active", nil},
		{"a word alone", "price", "A-001;A-002,98,partially refunded,,\nB-001,49,partially refunded,,\n", "B-001 49.00 active", map[int]string{2: part}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			storetest.EitherShops(t, func(t *testing.T, f *storetest.Fixture) {
				file := fmt.Sprintf(header, c.price)
				for row := range strings.Lines(c.rows) {
					file += strings.Replace(row, ",", ",1,Regular,USD,2026-04-27,", 1)
				}
				report, bad := f.ImportText(t, file, intoTheme())
				wantLines(t, bad, c.bad)
				expect.Equal(t, pricesAndStates(t, f), c.want)
				m, skipped := report.Purchases, 0
				for _, s := range report.Skipped {
					skipped += s.Count
				}
				expect.Equalf(t, int(m.New+m.Repeated)+skipped+report.Bad, report.Lines+report.Split, "the rows do not add up: %+v", report)
			})
		})
	}
}

func TestWhatIsReadAheadHasBounds(t *testing.T) {
	storetest.EitherShops(t, func(t *testing.T, f *storetest.Fixture) {
		const header = "code,item,license,currency,date,price,state,refund_of\n"
		sale := func(code, price, rest string) string {
			return fmt.Sprintf("%s,1,Regular,USD,2026-04-27,%s,%s\n", code, price, rest)
		}
		refunds := header + sale("A-001", "49", "paid,") + sale("A-002", "49", "paid,") + sale("R-001", "-49", "refunded,A-001")
		cases := []struct{ name, file, code string }{
			{"as many refunds as can be", refunds, ""},
			{"one more", refunds + sale("R-002", "-49", "refunded,A-002"), "csv_refunds"},
			{"as many orders as can be", wooOrders("7 78.00 CODE-1 0", "7 78.00 CODE-2 0"), ""},
			{"one order more", wooOrders("7 78.00 CODE-1 0", "8 78.00 CODE-2 0"), "csv_orders"},
		}
		for _, c := range cases {
			_, err := f.Transfer.Import(t.Context(), storetest.Operator, strings.NewReader(c.file), transfer.ReadingAhead(intoTheme(), 1))
			if storetest.CodeOf(err) != c.code || err != nil && !strings.Contains(fault.Message(err), "ore than 1") {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	})
}

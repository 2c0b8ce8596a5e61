package store

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/store/sample"
	"github.com/countersign/countersign/internal/store/transfer"
)

// Two workspaces: ada sells the items 1 (with support) and 2 (without), bob sells
// item 3.
var twoShops = lines(
	workspaceText("ada"), workspaceText("bob"),
	itemText("ada", 1, `"support":true`), itemText("ada", 2, `"support":false`), itemText("bob", 3, `"support":true`),
)

func lines(texts ...string) string { return strings.Join(texts, "\n") + "\n" }

func workspaceText(name string, members ...string) string {
	return object(members, `"type":"workspace"`, `"username":"`+name+`"`, `"name":{"firstname":"`+name+`","lastname":"Byron"}`,
		`"email":"`+name+`@shop.example"`, `"balance":120.50`, `"currency":"USD"`, `"registered_at":"2024-04-27T12:00:00Z"`)
}

func itemText(workspace string, id int, members ...string) string {
	return object(members, `"type":"item"`, `"workspace":"`+workspace+`"`, `"id":`+text(id), `"kind":"other"`,
		`"name":"Item `+text(id)+`"`, `"version":"1.2.3"`, `"price":{"regular":49.00,"extended":199.00}`, `"currency":"USD"`,
		`"published_at":"2024-04-27T12:00:00Z"`)
}

func purchaseText(workspace string, item int, code string, members ...string) string {
	return object(members, `"type":"purchase"`, `"workspace":"`+workspace+`"`, `"item_id":`+text(item),
		`"purchase_code":"`+code+`"`, `"license_type":"Regular"`, `"price":49.00`, `"currency":"USD"`, `"date":"2024-04-27T12:00:00Z"`)
}

func keyText(workspace, name string, members ...string) string {
	return object(members, `"type":"key"`, `"workspace":"`+workspace+`"`, `"name":"`+name+`"`)
}

// object writes a line. A member given by the test takes the place of the one
// with the same name.
func object(given []string, members ...string) string {
	name := func(member string) string { return member[:strings.Index(member, ":")] }
	for _, g := range given {
		members = slices.DeleteFunc(members, func(m string) bool { return name(m) == name(g) })
	}
	return "{" + strings.Join(append(members, given...), ",") + "}"
}

func text(n int) string { return strconv.Itoa(n) }

// rejected is a line that an import refused.
type rejected struct {
	Line   int
	Reason string
}

// importText imports a file and returns what it refused.
func (f *fixture) importText(t testing.TB, file string, o transfer.ImportOptions) (transfer.ImportReport, []rejected) {
	t.Helper()
	var bad []rejected
	o.Bad = func(line int, reason string, _ []byte) { bad = append(bad, rejected{line, reason}) }
	report, err := f.Transfer.Import(t.Context(), operator, strings.NewReader(file), o)
	if err != nil {
		t.Fatal(err)
	}
	return report, bad
}

// mustImport imports a file without bad lines.
func (f *fixture) mustImport(t testing.TB, file string) transfer.ImportReport {
	t.Helper()
	report, bad := f.importText(t, file, transfer.ImportOptions{})
	if len(bad) > 0 || !report.Written {
		t.Fatalf("bad lines %v, written: %t", bad, report.Written)
	}
	return report
}

// mustImportSample imports the sample shop.
func (f *fixture) mustImportSample(t testing.TB, o sample.Options) {
	t.Helper()
	f.mustImport(t, sampleText(t, o))
}

// sampleText is the sample shop as JSON Lines.
func sampleText(t testing.TB, o sample.Options) string {
	t.Helper()
	text, err := io.ReadAll(sample.Reader(o))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (f *fixture) mustExport(t testing.TB, withKeys bool) string {
	t.Helper()
	var out strings.Builder
	if err := f.Transfer.Export(t.Context(), operator, &out, withKeys); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

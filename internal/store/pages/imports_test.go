package pages_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/webtest"
)

// run does the background work of the store until the test ends.
func (s team) run(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		expect.NoError(t, <-ended)
	})
}

// ended loads the page of an import until the import has ended.
func ended(t *testing.T, b *webtest.Browser, path string) *webtest.Page {
	t.Helper()
	for {
		p := b.Get(path).Status(http.StatusOK)
		if !strings.Contains(p.Body, "data-running") {
			return p
		}
		must.Do(t, t.Context().Err())
	}
}

// upload sends a file, and leads to the page of its columns.
func upload(b *webtest.Browser, name, content string) *webtest.Page {
	b.T.Helper()
	body := fmt.Sprintf("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=%q\r\n\r\n%s\r\n--b--\r\n", name, content)
	return sendParts(b, strings.NewReader(body))
}

// imported uploads a file and has it imported as its columns are guessed, with more of the form
// as names and values in turns. It returns the address of the import.
func imported(b *webtest.Browser, content string, namesAndValues ...string) string {
	b.T.Helper()
	path := upload(b, "sales.csv", content).Status(http.StatusSeeOther).Header.Get("Location")
	return b.Fill(path, path, namesAndValues...).Status(http.StatusSeeOther).Header.Get("Location")
}

func sendParts(b *webtest.Browser, body io.Reader) *webtest.Page {
	b.T.Helper()
	return b.Send("POST", "/w/ada/import", body, "Content-Type", "multipart/form-data; boundary=b", "Sec-Fetch-Site", "same-origin")
}

// sold is a file of two purchases of the shop, and one that is bad.
const sold = "code;item_id;license;currency;date\nimported-one-of-many;1229;Regular;USD;2026-04-27\nimported-two-of-many;1229;Extended;USD;2026-04-27\nof-another-shop;999999;Regular;USD;2026-04-27\n"

func TestAManagerImportsAFileAndUndoesIt(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "manager")
		b.Get("/w/ada/import").Says("No imports", "At most 200 MB")
		path := imported(b, sold, "skip_bad", "1")
		running := b.Get(path).Says("0 %", "The import waits for its turn.", "Cancel")
		if !strings.Contains(running.Body, `<noscript><meta http-equiv="refresh" content="3"`) || !strings.Contains(running.Body, "running.js") {
			t.Errorf("the page does not follow the import: %s", running.Body)
		}
		s.run(t)
		done := ended(t, b, path).Says("2 of 3 rows imported", "3 rows read · 1 rejected", "purchase_code")
		if strings.Contains(done.Body, `http-equiv="refresh"`) {
			t.Error("the page of an import that has ended loads itself again")
		}
		if rejected := b.Get(path+"/rejected.csv", "Accept", "text/csv").Status(http.StatusOK).Body; !strings.HasPrefix(rejected, "code;item_id;license;currency;date;reason\nof-another-shop;") {
			t.Errorf("rejected %q", rejected)
		}
		b.Get("/w/ada/import").Says("sales.csv", "Imported", "2 new · 0 changed · 1 rejected")
		b.Get(path + "/undo").Says("What the import added is removed: 2 purchases.")
		b.Post(path + "/undo").LeadsTo(path)
		b.Get(path).Says("The import was undone")
		b.Get(path + "/undo").Status(http.StatusConflict)
		b.Get("/w/ada/import").Says("Undone")
		b.Get("/w/ada/audit").Says("Imported a file", "created 2, updated 0, rejected 1", "Undid an import", "removed 2, restored 0, left 0")
	})
}

func TestAFileOfAnOlderProgramIsReadAsTheFormSays(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "manager")
		path := upload(b, "sales.csv", "code;item_id;license;currency;price;date;buyer\nolder-one-of-many;1229;Regular;USD;4900;04/05/2026;J\xfcrgen\n").Status(http.StatusSeeOther).Header.Get("Location")
		b.Get(path).SilentAbout("Jürgen").Says("Read the file as Windows-1252")
		older := path + "?rows=purchases&encoding=Windows-1252"
		b.Get(older).Says("Jürgen", "Windows-1252. Choose what each column is.").SilentAbout("Read the file as Windows-1252")
		b.Fill(older, path, "dates", "ymd").Status(http.StatusUnprocessableEntity).Says("Invalid order of dates")
		dry := b.Fill(older, path, "dates", "dmy", "amounts", "cents", "do", "dry_run").Status(http.StatusSeeOther).Header.Get("Location")
		s.run(t)
		ended(t, b, dry).Says("This was a dry run")
		run := b.Post(dry + "/run").Status(http.StatusSeeOther).Header.Get("Location")
		ended(t, b, run).Says("The file is imported")
		r, err := s.Validation.Check(t.Context(), operator, "older-one-of-many")
		if p := r.Purchase; err != nil || p.BuyerName != "Jürgen" || p.Price.String() != "49.00" || p.SoldAt.String() != "2026-05-04T00:00:00Z" {
			t.Errorf("%+v, %v", p, err)
		}
	})
}

func TestAnUndoLeavesOutWhatWasChangedSinceOnlyWhenAsked(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "manager")
		path := imported(b, sold, "skip_bad", "1")
		s.run(t)
		ended(t, b, path).Says("2 of 3 rows imported")
		must.Get(s.EndPurchase(t.Context(), operator, "imported-one-of-many", "refunded"))(t)
		b.Post(path+"/undo").Status(http.StatusUnprocessableEntity).Wrong("rest", "1 row was changed or used")
		b.Post(path+"/undo", "rest", "1").LeadsTo(path)
		b.Get(path).Says("The import was undone. 1 row was changed or used since, and not undone.")
	})
}

func TestAnImportIsCancelled(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "manager")
		path := imported(b, sold)
		b.Post(path + "/cancel").LeadsTo(path)
		b.Get(path).Says("The import was cancelled. Nothing was imported.")
		b.Post(path + "/cancel").LeadsTo(path)
		b.Get(path).Says("The import had already ended.")
		b.Get(path + "/rejected.csv").Status(http.StatusConflict)
	})
}

func TestADryRunLeadsToTheImport(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "manager")
		s.run(t)
		path := imported(b, sold, "do", "dry_run")
		ended(t, b, path).Says("This was a dry run", "Nothing was imported.", "Import now", "Change the columns", "of-another-shop", "the workspace ada has no item 999999")
		b.Get("/w/ada/import").Says("Dry run", "Not imported yet", "sales.csv")
		run := b.Post(path + "/run").Status(http.StatusSeeOther).Header.Get("Location")
		ended(t, b, run).Says("2 of 3 rows imported").SilentAbout("Import now")
		b.Get(path).Says("This was a dry run").SilentAbout("Import now")
		b.Post(path + "/run").Status(http.StatusNotFound).Says("was imported or discarded")
		b.Get("/w/ada/import").SilentAbout("Not imported yet")
	})
}

func TestColumnsGetTheirFieldsOnAPage(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "manager")
		const file = "Ref,What,Kind of license,When,Note\none-of-many-sales,1229,Regular,2026-04-27,<i>hi</i>\n"
		path := upload(b, "other.csv", file).Status(http.StatusSeeOther).Header.Get("Location")
		b.Get(path).Says("The rows are items", "<i>hi</i>", "Kind of license")
		as := path + "?rows=purchases"
		if got := b.Get(as).Says("The rows are purchases", "For all rows").Form(path); got.Get("column.0") != "" || got.Get("column.4") != "" {
			t.Errorf("guessed %q", got)
		}
		b.Fill(as, path, "do", "import").Status(http.StatusUnprocessableEntity).Wrong("column.0", "Choose the column that is the purchase code.")
		columns := []string{"rows", "purchases", "column.0", "purchase_code", "column.1", "item_id", "column.2", "license_type", "column.3", "date", "column.4", "", "skip_bad", "1"}
		b.Post(path, columns...).Status(http.StatusUnprocessableEntity).Says("No column is currency")
		job := b.Post(path, append(columns, "set.currency", "USD", "do", "dry_run")...).Status(http.StatusSeeOther).Header.Get("Location")
		if in := b.Get(path).Says("The rows are purchases").Form(path); in.Get("column.0") != "purchase_code" || in.Get("set.currency") != "USD" {
			t.Error("the choices of the dry run are not in the form")
		}
		s.run(t)
		ended(t, b, job).Says("This was a dry run")
		done := ended(t, b, b.Post(job+"/run").Status(http.StatusSeeOther).Header.Get("Location"))
		done.Says("The file is imported", "purchase_code", "ignored")
		again := upload(b, "more.csv", strings.ReplaceAll(file, "one-", "two-")).Status(http.StatusSeeOther).Header.Get("Location")
		if in := b.Get(again).Says("those of the last import with these columns").Form(again); in.Get("column.0") != "purchase_code" {
			t.Error("the columns are not remembered")
		}
		b.Post(again + "/discard").LeadsTo("/w/ada/import")
		b.Get(again).Status(http.StatusNotFound)
		b.Post(again + "/discard").Status(http.StatusNotFound)
	})
}

func TestAnUploadBelongsToItsWorkspace(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		path := upload(s.as(t, "manager"), "sales.csv", sold).Status(http.StatusSeeOther).Header.Get("Location")
		b := s.as(t, "stranger")
		theirs := strings.Replace(path, "/ada/", "/bob/", 1)
		b.Get(theirs).Status(http.StatusNotFound)
		b.Post(theirs, "do", "import").Status(http.StatusNotFound)
		b.Post(theirs + "/discard").Status(http.StatusNotFound)
		b.Get("/w/bob/import").SilentAbout("sales.csv")
	})
}

// manySales is a file of 10,000 purchases, of which six are bad, each in another way.
func manySales() string {
	var file strings.Builder
	file.WriteString("Order;Product ID;License;Price;Currency;Sale date;Customer\n")
	for i := range 10_000 {
		code, item, license, price, currency, date := fmt.Sprintf("sale-%05d-of-many-sales", i), "1229", "Regular License", "49,00", "USD", "2026-04-27"
		switch i {
		case 1000:
			item = "999999"
		case 2000:
			price = "1,204"
		case 3000:
			date = "04/05/2026"
		case 4000:
			license = "Platinum"
		case 5000:
			code = ""
		case 6000:
			currency = "dollars"
		}
		fmt.Fprintf(&file, "%s;%s;%s;%s;%s;%s;Grace %d\n", code, item, license, price, currency, date, i)
	}
	return file.String()
}

func TestTenThousandRowsAreImportedByThePages(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "manager")
		s.run(t)
		path := upload(b, "sales.csv", manySales()).Status(http.StatusSeeOther).Header.Get("Location")
		b.Get(path+"?rows=purchases").Says("sale-00004-of-many-sales", "Grace 4").SilentAbout("Grace 5")
		dry := b.Fill(path+"?rows=purchases", path, "do", "dry_run", "column.0", "purchase_code").Status(http.StatusSeeOther).Header.Get("Location")
		reasons := []string{"9,994", "6 rejected", "the workspace ada has no item 999999", "ambiguous", "Platinum", "dollars"}
		ended(t, b, dry).Says(append(reasons, "This was a dry run")...)
		b.Get("/w/ada/purchases?item=1229").SilentAbout("Grace 9")
		run := b.Post(dry + "/run").Status(http.StatusSeeOther).Header.Get("Location")
		ended(t, b, run).Says(append(reasons, "9,994 of 10,000 rows imported")...)
		rejected := strings.Split(b.Get(run+"/rejected.csv", "Accept", "text/csv").Status(http.StatusOK).Body, "\n")
		if len(rejected) != 8 || !strings.HasSuffix(rejected[0], ";Customer;reason") {
			t.Errorf("rejected %q", rejected)
		}
		b.Get("/w/ada/import").Says("9,994 new · 0 changed · 6 rejected")
		b.Post(run + "/undo").LeadsTo(run)
		b.Get(run).Says("The import was undone")
	})
}

func TestAnImportSaysWhatItWouldDoOrWhyItsColumnsAreRefused(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "manager")
		s.run(t)
		ended(t, b, imported(b, sold, "do", "dry_run")).Says("This was a dry run", "Nothing was imported.")
		path := upload(b, "sales.csv", "<i>a</i>,b\n1,2\n").Status(http.StatusSeeOther).Header.Get("Location")
		b.Fill(path, path).Status(http.StatusUnprocessableEntity).Says("Choose the column that is the id.")
		upload(b, "empty.csv", "").Status(http.StatusUnprocessableEntity).Wrong("file", "the file is empty")
		path = upload(b, "sales.csv", "code,buyer\n1,Jürgen\n").Status(http.StatusSeeOther).Header.Get("Location")
		b.Get(path + "?encoding=Windows-1252").Status(http.StatusBadRequest).Says("Line 2 has characters in UTF-8")
		path = upload(b, "lines.jsonl", "{}\n").Status(http.StatusSeeOther).Header.Get("Location")
		ended(t, b, b.Fill(path, path, "do", "import").Status(http.StatusSeeOther).Header.Get("Location")).Says("Nothing was imported")
	})
}

func TestAFileThatIsTooLargeOrMissingIsRefused(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "manager")
		b.Post("/w/ada/import").Status(http.StatusUnprocessableEntity).Wrong("file", "Choose a file.")
		head := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\n"
		large := io.MultiReader(strings.NewReader(head), io.LimitReader(zeros{}, 201<<20))
		sendParts(b, large).Status(http.StatusRequestEntityTooLarge).Wrong("file", "The file is larger than 200 MB.")
		sendParts(b, strings.NewReader(head+"code")).Status(http.StatusUnprocessableEntity).Wrong("file", "did not arrive as a whole")
		b.Get("/w/ada/import").Says("No imports").SilentAbout("Not imported yet")
	})
}

// zeros is a file without end.
type zeros struct{}

// Read fills b.
func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

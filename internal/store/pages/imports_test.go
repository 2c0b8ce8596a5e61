package pages_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

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
		if err := <-ended; err != nil {
			t.Error(err)
		}
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
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// upload sends the form of an import; names and values take turns.
func upload(b *webtest.Browser, name, content string, namesAndValues ...string) *webtest.Page {
	b.T.Helper()
	var body strings.Builder
	for i := 0; i < len(namesAndValues); i += 2 {
		fmt.Fprintf(&body, "--b\r\nContent-Disposition: form-data; name=%q\r\n\r\n%s\r\n", namesAndValues[i], namesAndValues[i+1])
	}
	fmt.Fprintf(&body, "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=%q\r\n\r\n%s\r\n--b--\r\n", name, content)
	return sendParts(b, strings.NewReader(body.String()))
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
		started := upload(b, "sales.csv", sold, "skip_bad", "1").Status(http.StatusSeeOther)
		path := started.Header.Get("Location")
		running := b.Get(path).Says("0 %", "Cancel")
		if !strings.Contains(running.Body, `<noscript><meta http-equiv="refresh" content="3"`) || !strings.Contains(running.Body, "running.js") {
			t.Errorf("the page does not follow the import: %s", running.Body)
		}
		s.run(t)
		done := ended(t, b, path).Says("The file is imported", "3 rows read · 1 rejected", "purchase_code")
		if strings.Contains(done.Body, `http-equiv="refresh"`) {
			t.Error("the page of an import that has ended loads itself again")
		}
		if rejected := b.Get(path+"/rejected.csv", "Accept", "text/csv").Status(http.StatusOK).Body; !strings.HasPrefix(rejected, "code;item_id;license;currency;date;reason\nof-another-shop;") {
			t.Errorf("rejected %q", rejected)
		}
		b.Get("/w/ada/import").Says("sales.csv", "Imported", "2 new · 0 changed · 1 rejected")
		b.Get(path+"/undo").Says("2 added rows", "are removed")
		b.Post(path + "/undo").LeadsTo(path)
		b.Get(path).Says("The import was undone")
		b.Get(path + "/undo").Status(http.StatusConflict)
		b.Get("/w/ada/import").Says("Undone")
		b.Get("/w/ada/audit").Says("Imported a file", "Undid an import")
	})
}

func TestAnUndoLeavesOutWhatWasChangedSinceOnlyWhenAsked(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "manager")
		path := upload(b, "sales.csv", sold, "skip_bad", "1").Status(http.StatusSeeOther).Header.Get("Location")
		s.run(t)
		ended(t, b, path).Says("The file is imported")
		if _, err := s.EndPurchase(t.Context(), operator, "imported-one-of-many", "refunded"); err != nil {
			t.Fatal(err)
		}
		b.Post(path+"/undo").Status(http.StatusUnprocessableEntity).Wrong("rest", "1 row was changed or used")
		b.Post(path+"/undo", "rest", "1").LeadsTo(path)
		b.Get(path).Says("1 row was left as it is")
	})
}

func TestAnImportIsCancelled(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "manager")
		path := upload(b, "sales.csv", sold).Status(http.StatusSeeOther).Header.Get("Location")
		b.Post(path + "/cancel").LeadsTo(path)
		b.Get(path).Says("The import was cancelled. Nothing was imported.")
		b.Post(path + "/cancel").LeadsTo(path)
		b.Get(path).Says("The import had already ended.")
		b.Get(path + "/rejected.csv").Status(http.StatusConflict)
	})
}

func TestAnImportSaysWhatItWouldDoOrWhyItFailed(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "manager")
		s.run(t)
		for file, say := range map[string]string{sold: "This was a dry run", "<i>a</i>,b\n1,2\n": "The import failed"} {
			path := upload(b, "sales.csv", file, "dry_run", "1").Status(http.StatusSeeOther).Header.Get("Location")
			ended(t, b, path).Says(say, "Nothing was imported.").SilentAbout("<i>")
		}
		b.Get("/w/ada/import").Says("Dry run", "Failed")
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
		b.Get("/w/ada/import").Says("No imports")
	})
}

// zeros is a file without end.
type zeros struct{}

// Read fills b.
func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

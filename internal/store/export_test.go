package store

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/store/sample"
)

// fill puts the sample shop into a store, and rows with everything odd.
func fill(t *testing.T, f *fixture) {
	t.Helper()
	f.mustImportSample(t, sample.Options{Keys: true})
	odd := `"\"quoted\" \\ back / <b>&amp;</b> \u2028 \u00e9 😀 \t tab"`
	f.mustImport(t, lines(
		workspaceText("odd", `"name":{"firstname":`+odd+`,"lastname":""}`, `"balance":-0.01`, `"profile":{"description":`+odd+`,"social_links":[]}`,
			`"always_200":true`, `"quota":9007199254740993`),
		workspaceText("Bare", `"email":""`),
		itemText("odd", 9007199254740993, `"name":`+odd, `"tags":[`+odd+`,""]`, `"version":""`, `"price":{"regular":0.1}`),
		itemText("odd", 5, `"kind":"audio"`, `"media":{"preview_image":"https://kept.example/although-not-printed.png","preview_audio":""}`),
		purchaseText("odd", 5, `\"{x}\\`, `"state":"charged_back"`, `"state_at":"2020-02-29T23:59:59Z"`, `"buyer":{"name":`+odd+`}`),
		purchaseText("odd", 5, "UPPER-code"), purchaseText("odd", 5, "a b"), purchaseText("odd", 5, "~"), purchaseText("odd", 5, "!"),
		keyText("odd", `é \"key\"`, `"expires_at":"2030-01-01T00:00:00Z"`),
	))
	k, _ := f.mustCreate(t, NewKey{Workspace: "odd", Name: "rotated"})
	if _, _, err := f.RotateKey(t.Context(), operator, k.ID, time.Hour); err != nil {
		t.Fatal(err)
	}
	if _, err := f.RevokeKey(t.Context(), operator, k.ID); err != nil {
		t.Fatal(err)
	}
}

// Export, import into an empty store, export: the same bytes, on either engine
// and from one to the other.
func TestExportComesBackByteByByte(t *testing.T) {
	t.Parallel()
	for _, from := range []string{dbtest.SQLite, dbtest.Postgres} {
		source := prepared(t, dbtest.New(t, from))
		fill(t, source)
		for _, to := range []string{dbtest.SQLite, dbtest.Postgres} {
			for _, withKeys := range []bool{false, true} {
				t.Run(from+" to "+to, func(t *testing.T) {
					target := prepared(t, dbtest.New(t, to))
					first := source.mustExport(t, withKeys)
					target.mustImport(t, first)
					if second := target.mustExport(t, withKeys); second != first {
						t.Errorf("with keys: %t: %s", withKeys, firstDifference(first, second))
					}
					if report := target.mustImport(t, first); report.Purchases.Changed+report.Items.Changed+report.Keys.Changed+report.Workspaces.Changed != 0 {
						t.Errorf("importing the export into its own store: %+v", report)
					}
				})
			}
		}
	}
}

func firstDifference(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return "line " + text(i+1) + ":\n" + as[i] + "\n" + bs[i]
		}
	}
	return text(len(as)) + " lines against " + text(len(bs))
}

func TestExportIsInTheOrderOfNaturalKeys(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		fill(t, f)
		var kinds, users, codes []string
		for line := range strings.Lines(f.mustExport(t, false)) {
			var names struct {
				Type         string
				Username     string
				PurchaseCode string `json:"purchase_code"`
			}
			if err := json.Unmarshal([]byte(line), &names); err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, names.Type)
			switch names.Type {
			case "workspace":
				users = append(users, names.Username)
			case "purchase":
				codes = append(codes, names.PurchaseCode)
			}
		}
		if got := slices.Compact(kinds); !slices.Equal(got, []string{"workspace", "key", "item", "purchase"}) {
			t.Errorf("order of kinds %v", got)
		}
		if !slices.IsSorted(users) || !slices.IsSorted(codes) || len(codes) < 1200 {
			t.Errorf("sorted by bytes: usernames %t, %d codes %t", slices.IsSorted(users), len(codes), slices.IsSorted(codes))
		}
	})
}

func TestExportOfAnEmptyStoreIsEmpty(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for _, withKeys := range []bool{false, true} {
			if got := f.mustExport(t, withKeys); got != "" {
				t.Errorf("with keys: %t: %q", withKeys, got)
			}
		}
	})
}

func TestValuesOfKeysAreExportedOnlyWhenAskedFor(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		k, first := f.mustCreate(t, NewKey{Workspace: "ada"})
		_, second, err := f.RotateKey(t.Context(), operator, k.ID, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		audits := len(f.audits(t))
		without := f.mustExport(t, false)
		if strings.Contains(without, first) || strings.Contains(without, second) || !strings.Contains(without, `"name":"web"`) {
			t.Errorf("without values: %s", without)
		}
		if len(f.audits(t)) != audits {
			t.Error("an export without values is written down")
		}
		with := f.mustExport(t, true)
		if !strings.Contains(with, `"key":"`+second+`"`) || !strings.Contains(with, `"previous_key":"`+first+`"`) {
			t.Errorf("with values: %s", with)
		}
		if got := f.audits(t)[audits:]; !slices.Equal(got, []string{"store.export"}) {
			t.Errorf("audit %q", got)
		}
	})
}

func TestExportSeesOneView(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, lines(purchaseText("ada", 1, "code")))
		other := f.again(t)
		var out strings.Builder
		err := f.Transfer.Export(t.Context(), operator, writerFunc(func(p []byte) (int, error) {
			other.mustImport(t, lines(itemText("bob", 50+out.Len())))
			return out.Write(p)
		}), false)
		if err != nil || strings.Count(out.String(), `"type":"item"`) != 3 {
			t.Errorf("%v: %s", err, out.String())
		}
	})
}

type writerFunc func([]byte) (int, error)

func (w writerFunc) Write(p []byte) (int, error) { return w(p) }

func TestExportIntoABrokenPipe(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		broken := errors.New("broken pipe")
		err := f.Transfer.Export(t.Context(), operator, writerFunc(func([]byte) (int, error) { return 0, broken }), false)
		if !errors.Is(err, broken) {
			t.Errorf("error %v", err)
		}
	})
}

package transfer_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/sample"
	"github.com/countersign/countersign/internal/store/storetest"
)

// fill puts the sample shop into a store, and rows with everything odd.
func fill(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	mustImportSample(t, f, sample.Options{Keys: true})
	odd := `"\"quoted\" \\ back / <b>&amp;</b> \u2028 \u00e9 😀 \t tab"`
	f.MustImport(t, storetest.Lines(
		storetest.WorkspaceText("odd", `"name":{"firstname":`+odd+`,"lastname":""}`, `"balance":-0.01`, `"profile":{"description":`+odd+`,"social_links":[]}`,
			`"always_200":true`, `"quota":9007199254740993`),
		storetest.WorkspaceText("Bare", `"email":""`),
		storetest.ItemText("odd", 9007199254740993, `"name":`+odd, `"tags":[`+odd+`,""]`, `"version":""`, `"price":{"regular":0.1}`),
		storetest.ItemText("odd", 5, `"kind":"audio"`, `"media":{"preview_image":"https://kept.example/although-not-printed.png","preview_audio":""}`),
		storetest.PurchaseText("odd", 5, `\"{x}\\`, `"state":"charged_back"`, `"state_at":"2020-02-29T23:59:59Z"`, `"buyer":{"name":`+odd+`}`),
		storetest.PurchaseText("odd", 5, "UPPER-code"), storetest.PurchaseText("odd", 5, "a b"), storetest.PurchaseText("odd", 5, "~"), storetest.PurchaseText("odd", 5, "!"),
		storetest.KeyText("odd", `é \"key\"`, `"expires_at":"2030-01-01T00:00:00Z"`),
	))
	k, _ := f.MustCreate(t, store.NewKey{Workspace: "odd", Name: "rotated"})
	if _, _, err := f.RotateKey(t.Context(), storetest.Operator, k.ID, time.Hour, ""); err != nil {
		t.Fatal(err)
	}
	must.Get(f.RevokeKey(t.Context(), storetest.Operator, k.ID))(t)
}

// Export, import into an empty store, export: the same bytes, on either engine
// and from one to the other.
func TestExportComesBackByteByByte(t *testing.T) {
	t.Parallel()
	for _, from := range []string{dbtest.SQLite, dbtest.Postgres} {
		source := storetest.Prepared(t, dbtest.New(t, from))
		fill(t, source)
		for _, to := range dbtest.EnginesOf(t.Name()) {
			for _, withKeys := range []bool{false, true} {
				t.Run(from+" to "+to, func(t *testing.T) {
					target := storetest.Prepared(t, dbtest.New(t, to))
					first := source.MustExport(t, withKeys)
					target.MustImport(t, first)
					if second := target.MustExport(t, withKeys); second != first {
						t.Errorf("with keys: %t: %s", withKeys, storetest.FirstDifference(first, second))
					}
					if report := target.MustImport(t, first); report.Purchases.Changed+report.Items.Changed+report.Keys.Changed+report.Workspaces.Changed != 0 {
						t.Errorf("importing the export into its own store: %+v", report)
					}
				})
			}
		}
	}
}

func TestExportIsInTheOrderOfNaturalKeys(t *testing.T) {
	storetest.Engines(t, func(t *testing.T, f *storetest.Fixture) {
		fill(t, f)
		var kinds, users, codes []string
		for line := range strings.Lines(f.MustExport(t, false)) {
			var names struct {
				Type         string
				Username     string
				PurchaseCode string `json:"purchase_code"`
			}
			must.Do(t, json.Unmarshal([]byte(line), &names))
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
	storetest.Engines(t, func(t *testing.T, f *storetest.Fixture) {
		for _, withKeys := range []bool{false, true} {
			expect.Equalf(t, f.MustExport(t, withKeys), "", "with keys: %t", withKeys)
		}
	})
}

func TestValuesOfKeysAreExportedOnlyWhenAskedFor(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		k, first := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		_, second, err := f.RotateKey(t.Context(), storetest.Operator, k.ID, time.Hour, "")
		must.Do(t, err)
		audits := len(f.Audits(t))
		without := f.MustExport(t, false)
		if strings.Contains(without, first) || strings.Contains(without, second) || !strings.Contains(without, `"name":"web"`) {
			t.Errorf("without values: %s", without)
		}
		expect.Equalf(t, len(f.Audits(t)), audits, "an export without values is written down")
		with := f.MustExport(t, true)
		if !strings.Contains(with, `"key":"`+second+`"`) || !strings.Contains(with, `"previous_key":"`+first+`"`) {
			t.Errorf("with values: %s", with)
		}
		if got := f.Audits(t)[audits:]; !slices.Equal(got, []string{"store.export"}) {
			t.Errorf("audit %q", got)
		}
	})
}

func TestExportSeesOneView(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, "code")))
		other := f.Again(t)
		var out strings.Builder
		err := f.Transfer.Export(t.Context(), storetest.Operator, writerFunc(func(p []byte) (int, error) {
			other.MustImport(t, storetest.Lines(storetest.ItemText("bob", 50+out.Len())))
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
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		broken := errors.New("broken pipe")
		err := f.Transfer.Export(t.Context(), storetest.Operator, writerFunc(func([]byte) (int, error) { return 0, broken }), false)
		if !errors.Is(err, broken) {
			t.Errorf("error %v", err)
		}
	})
}

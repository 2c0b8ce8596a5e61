package transfer_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
)

// Codes can be guessed by importing them: a line is rejected when another workspace has its code.
func TestImportsTellLittleOfTheCodesOfOthers(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		var his, guessed []string
		for i := range 150 {
			his, guessed = append(his, storetest.PurchaseText("bob", 3, fmt.Sprintf("his-%d", i))), append(guessed, storetest.PurchaseText("ada", 1, fmt.Sprintf("his-%d", i)))
		}
		f.MustImport(t, storetest.Lines(his...))
		manager := memberOf(t, f, "ada", store.RoleManager)
		try := func(reported *int, o transfer.ImportOptions, guesses ...string) error {
			o.Workspace, o.SkipBad, o.Bad = "ada", true, func(int, string, []byte) { *reported++ }
			_, err := f.Transfer.Import(t.Context(), manager, strings.NewReader(storetest.Lines(guesses...)), o)
			return err
		}
		dry, reported := transfer.ImportOptions{DryRun: true}, 0
		if err := try(&reported, dry, guessed[:60]...); err != nil || reported != 60 {
			t.Errorf("%d told, %v", reported, err)
		}
		if err := try(&reported, transfer.ImportOptions{}, append(guessed[60:100:100], storetest.PurchaseText("ada", 1, "hers"))...); err != nil || reported != 100 {
			t.Errorf("%d told, %v", reported, err)
		}
		f.Purchase(t, "hers")
		for name, guesses := range map[string][]string{"of another": guessed[100:101], "of nobody": {storetest.PurchaseText("ada", 1, "nobody's")}} {
			storetest.WantError(t, try(&reported, dry, guesses...), "code_clashes")
			expect.Equalf(t, reported, 100, "%s: told", name)
		}
		if _, bad := f.ImportText(t, storetest.Lines(guessed...), transfer.ImportOptions{DryRun: true, Workspace: "ada"}); len(bad) != 150 {
			t.Errorf("the operator is told of %d", len(bad))
		}
		f.Clock.Set(storetest.Noon.Add(time.Hour))
		storetest.WantError(t, try(&reported, dry, guessed...), "code_clashes")
		expect.Equalf(t, reported, 100, "too many at once: told")
		f.Clock.Set(storetest.Noon.Add(2 * time.Hour))
		if err := try(&reported, dry, guessed[0]); err != nil || reported != 101 {
			t.Errorf("later: %d told, %v", reported, err)
		}
	})
}

func TestDatesAtTheEndsOfTheCalendar(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		for name, line := range map[string]string{
			"a sale":        storetest.PurchaseText("ada", 1, "early", `"date":"0001-01-01T00:00:00+12:00"`),
			"a publication": storetest.ItemText("ada", 7, `"published_at":"0000-06-01T00:00:00Z"`),
		} {
			if _, bad := f.ImportText(t, storetest.Lines(line), transfer.ImportOptions{}); len(bad) != 1 || !strings.Contains(bad[0].Reason, "before the year 1") {
				t.Errorf("%s: %v", name, bad)
			}
		}
		f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, "late", `"date":"9999-12-31T23:59:59Z"`), storetest.PurchaseText("ada", 1, "usual")))
		n := 0
		err := f.Purchases(t.Context(), storetest.Operator, "ada", store.PurchaseFilter{Until: storetest.Timestamp("9999-12-31T00:00:00Z")}, func(store.Purchase) error { n++; return nil })
		if err != nil || n != 1 {
			t.Errorf("%d purchases before the last day, %v", n, err)
		}
		last := storetest.Timestamp("9999-12-31T00:00:00Z")
		last.Time = last.AddDate(0, 0, 1)
		n = 0
		err = f.Purchases(t.Context(), storetest.Operator, "ada", store.PurchaseFilter{Until: last}, func(store.Purchase) error { n++; return nil })
		if err != nil || n != 2 {
			t.Errorf("%d purchases up to the last day, %v", n, err)
		}
	})
}

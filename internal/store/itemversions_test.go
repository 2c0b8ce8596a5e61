package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storetest"
)

// wantVersions wants the versions of an item, newest first, each as version, actor and notes.
func wantVersions(t *testing.T, f *storetest.Fixture, item int64, want ...string) {
	t.Helper()
	all := must.Get(f.ItemVersions(t.Context(), storetest.Operator, item))(t)
	var got []string
	for n, v := range all {
		got = append(got, fmt.Sprintf("%s|%s|%s", v.Version, v.Actor, v.Notes))
		if v.Number != int64(len(all)-n) || v.At.IsZero() {
			t.Errorf("version %d of %d: %+v", n, len(all), v)
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("item %d has the versions\n%q, want\n%q", item, got, want)
	}
}

func TestEveryPathKeepsTheVersionsOfAnItem(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		by := "|" + storetest.Operator.ID + "|"
		set := func(version, notes string) error {
			_, err := f.EditItem(t.Context(), storetest.Operator, 500, "", func(i *store.Item, _ string) error {
				i.Version, i.Notes = countersign.Version(version), notes
				return nil
			})
			return err
		}
		must.Get(f.CreateItem(t.Context(), storetest.Operator, "ada", func(i *store.Item) error {
			i.ID, i.Name, i.Version, i.Notes = 500, "Rain", "1.0", "First"
			return nil
		}))(t)
		wantVersions(t, f, 500, "1.0"+by+"First")
		if err := set("1.0", "Again"); !fault.HasCode(err, "invalid_notes") {
			t.Errorf("notes without a version: %v", err)
		}
		if err := set("1.1", strings.Repeat("x", 10_001)); !fault.HasCode(err, "invalid_notes") {
			t.Errorf("long notes: %v", err)
		}
		must.Do(t, set("1.1", ""))
		must.Get(f.SetItemsCategory(t.Context(), storetest.Operator, "ada", []int64{500}, "Loops"))(t)
		f.MustImport(t, storetest.Lines(storetest.ItemText("ada", 500, `"version":"2.0"`), storetest.ItemText("ada", 501, `"version":"0.1"`), storetest.ItemText("ada", 502, `"version":""`)))
		f.MustImport(t, storetest.Lines(storetest.ItemText("ada", 500, `"version":"2.0"`, `"name":"Renamed"`)))
		wantVersions(t, f, 500, "2.0"+by, "1.1"+by, "1.0"+by+"First")
		wantVersions(t, f, 501, "0.1"+by)
		wantVersions(t, f, 502)
		id := f.StartImport(t, storetest.UploadedAs("items.csv"), "id,version\n500,3.0\n501,0.1\n503,1.0\n")
		storetest.RunJobs(t, f.Instance.Jobs)
		wantVersions(t, f, 500, "3.0"+by, "2.0"+by, "1.1"+by, "1.0"+by+"First")
		if report, err := f.Transfer.UndoJob(t.Context(), storetest.Operator, id, false); err != nil || !report.Written {
			t.Fatal(report, err)
		}
		wantVersions(t, f, 500, "2.0"+by, "3.0"+by, "2.0"+by, "1.1"+by, "1.0"+by+"First")
		wantVersions(t, f, 501, "0.1"+by)
		must.Do(t, set("", ""))
		wantVersions(t, f, 500, ""+by, "2.0"+by, "3.0"+by, "2.0"+by, "1.1"+by, "1.0"+by+"First")
	})
}

func TestVersionsOfARemovedItemAreGone(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		before := f.Rows(t, "item_versions")
		report := f.MustImport(t, storetest.Lines(storetest.ItemText("ada", 500)))
		if got := f.Rows(t, "item_versions"); got != before+1 {
			t.Errorf("%d versions", got-before)
		}
		must.Get(f.Transfer.Undo(t.Context(), storetest.Operator, report.ID, false))(t)
		if got := f.Rows(t, "item_versions"); got != before {
			t.Errorf("%d versions are left", got-before)
		}
	})
}

func TestAMigrationKeepsTheVersionsOfNow(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		older(t, f)
		must.Get(f.Unprepared(t).Migrate(t.Context()))(t)
		wantVersions(t, f.Again(t), 1, "1.2.3||")
	})
}

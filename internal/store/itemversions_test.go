package store

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
)

// wantVersions wants the versions of an item, newest first, each as version, actor and notes.
func (f *fixture) wantVersions(t *testing.T, item int64, want ...string) {
	t.Helper()
	all, err := f.ItemVersions(t.Context(), operator, item)
	if err != nil {
		t.Fatal(err)
	}
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
	shops(t, func(t *testing.T, f *fixture) {
		by := "|" + operator.ID + "|"
		set := func(version, notes string) error {
			_, err := f.EditItem(t.Context(), operator, 500, func(i *Item, _ string) error {
				i.Version, i.Notes = countersign.Version(version), notes
				return nil
			})
			return err
		}
		_, err := f.CreateItem(t.Context(), operator, "ada", func(i *Item) error {
			i.ID, i.Name, i.Version, i.Notes = 500, "Rain", "1.0", "First"
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		f.wantVersions(t, 500, "1.0"+by+"First")
		if err := set("1.0", "Again"); !fault.HasCode(err, "invalid_notes") {
			t.Errorf("notes without a version: %v", err)
		}
		if err := set("1.1", strings.Repeat("x", 10_001)); !fault.HasCode(err, "invalid_notes") {
			t.Errorf("long notes: %v", err)
		}
		if err := set("1.1", ""); err != nil {
			t.Fatal(err)
		}
		if _, err := f.SetItemsCategory(t.Context(), operator, "ada", []int64{500}, "Loops"); err != nil {
			t.Fatal(err)
		}
		f.mustImport(t, lines(itemText("ada", 500, `"version":"2.0"`), itemText("ada", 501, `"version":"0.1"`), itemText("ada", 502, `"version":""`)))
		f.mustImport(t, lines(itemText("ada", 500, `"version":"2.0"`, `"name":"Renamed"`)))
		f.wantVersions(t, 500, "2.0"+by, "1.1"+by, "1.0"+by+"First")
		f.wantVersions(t, 501, "0.1"+by)
		f.wantVersions(t, 502)
		id := f.start(t, uploadedAs("items.csv"), "id,version\n500,3.0\n501,0.1\n503,1.0\n")
		f.runJobs(t)
		f.wantVersions(t, 500, "3.0"+by, "2.0"+by, "1.1"+by, "1.0"+by+"First")
		if report, err := f.Transfer.UndoJob(t.Context(), operator, id, false); err != nil || !report.Written {
			t.Fatal(report, err)
		}
		f.wantVersions(t, 500, "2.0"+by, "3.0"+by, "2.0"+by, "1.1"+by, "1.0"+by+"First")
		f.wantVersions(t, 501, "0.1"+by)
		if err := set("", ""); err != nil {
			t.Fatal(err)
		}
		f.wantVersions(t, 500, ""+by, "2.0"+by, "3.0"+by, "2.0"+by, "1.1"+by, "1.0"+by+"First")
	})
}

func TestVersionsOfARemovedItemAreGone(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		before := f.rows(t, "item_versions")
		report := f.mustImport(t, lines(itemText("ada", 500)))
		if got := f.rows(t, "item_versions"); got != before+1 {
			t.Errorf("%d versions", got-before)
		}
		if _, err := f.Transfer.Undo(t.Context(), operator, report.ID, false); err != nil {
			t.Fatal(err)
		}
		if got := f.rows(t, "item_versions"); got != before {
			t.Errorf("%d versions are left", got-before)
		}
	})
}

func TestAMigrationKeepsTheVersionsOfNow(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		f.older(t)
		if _, err := opened(t, optionsOf(f.at, f.clock)).Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.again(t).wantVersions(t, 1, "1.2.3||")
	})
}

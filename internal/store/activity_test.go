package store

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/media"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// activity counts what the buyers of ada did in the last days.
func (f *fixture) activity(t *testing.T, kind ActivityKind, by ActivityQuery) []Activity {
	t.Helper()
	today := f.now().UTC().Truncate(24 * time.Hour)
	by.Kind, by.From, by.Until = kind, today.AddDate(0, 0, -5), today.AddDate(0, 0, 1)
	all, err := f.Activity(t.Context(), operator, "ada", by)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (f *fixture) download(t *testing.T, purchase int64, times int) {
	t.Helper()
	token, _, err := f.Media.CreateLink(t.Context(), operator, purchase, 48*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for range times {
		_, file, err := f.Media.Download(t.Context(), people.Buyer(people.FacePage, client), token, true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, file); err != nil {
			t.Fatal(err)
		}
		_ = file.Close()
	}
}

func TestLicensesAndDownloadsAreCounted(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		if _, err := f.Media.SetItem(t.Context(), operator, 1, media.File, media.Upload{Name: "rain.zip", From: strings.NewReader("rain")}); err != nil {
			t.Fatal(err)
		}
		before := f.now().UTC().Format(time.DateOnly)
		var sold []Purchase
		for _, code := range []string{"first", "second"} {
			p, err := f.CreatePurchase(t.Context(), operator, "ada", Purchase{ItemID: 1, License: "Regular", Code: code})
			if err != nil {
				t.Fatal(err)
			}
			sold = append(sold, p)
		}
		issue := func(code, domain string) {
			t.Helper()
			if _, err := f.Licensing.Issue(t.Context(), operator, issuer, code, domain); err != nil {
				t.Fatal(err)
			}
		}
		issue("first", "a.example")
		issue("first", "a.example") // the same license again
		f.download(t, sold[0].ID, 2)
		f.clock.set(f.now().Add(24 * time.Hour))
		after := f.now().UTC().Format(time.DateOnly)
		issue("second", "b.example")
		issue("second", "localhost")
		f.download(t, sold[0].ID, 1)
		f.download(t, sold[1].ID, 0)

		check := func(when string) {
			t.Helper()
			for kind, want := range map[ActivityKind][]Activity{
				LicensesIssued:  {{Day: before, Count: 1}, {Day: after, Count: 2}},
				FilesDownloaded: {{Day: before, Count: 1}, {Day: after, Count: 1}},
			} {
				if diff := cmp.Diff(want, f.activity(t, kind, ActivityQuery{By: ActivityByDay})); diff != "" {
					t.Errorf("%s, %s by day: %s", when, kind, diff)
				}
				sum := want[0].Count + want[1].Count
				if diff := cmp.Diff([]Activity{{Item: 1, Count: sum}}, f.activity(t, kind, ActivityQuery{By: ActivityByItem})); diff != "" {
					t.Errorf("%s, %s by item: %s", when, kind, diff)
				}
				if diff := cmp.Diff([]Activity{{Count: sum}}, f.activity(t, kind, ActivityQuery{})); diff != "" {
					t.Errorf("%s, %s together: %s", when, kind, diff)
				}
			}
		}
		check("as they happen")
		if _, err := f.db.Exec(t.Context(), `UPDATE activity_days SET count = 100`); err != nil {
			t.Fatal(err)
		}
		f.withoutActivity(t)
		if _, err := f.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		check("after the migration")
		today := f.now()
		none, err := f.Activity(t.Context(), operator, "bob", ActivityQuery{Kind: LicensesIssued, From: today.AddDate(0, 0, -5), Until: today.AddDate(0, 0, 1)})
		if diff := cmp.Diff([]Activity{}, none, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("of another workspace: %v %s", err, diff)
		}
		_, err = f.Activity(t.Context(), operator, "ada", ActivityQuery{Kind: LicensesIssued, From: today.AddDate(-1, 0, -2), Until: today})
		if !fault.HasCode(err, "time_too_long") || !fault.HasKind(err, countersign.KindInvalid) {
			t.Errorf("a time that is too long: %v", err)
		}
	})
}

// Sums of months that were read before are not those of a month that has changed since.
func TestActivityByItemIsThatOfTheTimeAfterEveryChange(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		r := rand.New(rand.NewPCG(3, 4))
		var sold []string
		for i := range 30 {
			sold = append(sold, purchaseText("ada", 1+i%2, fmt.Sprintf("code-%d", i)))
		}
		f.mustImport(t, lines(sold...))
		type issued struct {
			at   time.Time
			item int64
		}
		var all []issued
		start := f.now().UTC().Truncate(24 * time.Hour)
		for i := range 30 {
			f.clock.set(f.now().Add(time.Duration(r.IntN(20*24)) * time.Hour))
			if _, err := f.Licensing.Issue(t.Context(), operator, issuer, fmt.Sprintf("code-%d", i), fmt.Sprintf("site%d.example", i)); err != nil {
				t.Fatal(err)
			}
			all = append(all, issued{f.now(), int64(1 + i%2)})
			from := start.AddDate(0, 0, r.IntN(100))
			q := ActivityQuery{Kind: LicensesIssued, From: from, Until: from.AddDate(0, 0, 1+r.IntN(366)), By: ActivityByItem}
			got, err := f.Activity(t.Context(), operator, "ada", q)
			if err != nil {
				t.Fatal(err)
			}
			want := map[int64]int64{}
			for _, one := range all {
				if !one.at.Before(q.From) && one.at.Before(q.Until) {
					want[one.item]++
				}
			}
			counted := map[int64]int64{}
			for _, a := range got {
				counted[a.Item] = a.Count
			}
			if diff := cmp.Diff(want, counted); diff != "" {
				t.Fatalf("%v to %v after %d licenses: %s", q.From, q.Until, i+1, diff)
			}
		}
	})
}

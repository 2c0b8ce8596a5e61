package store_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/media"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// activity counts what the buyers of ada did in the last days.
func activity(t *testing.T, f *storetest.Fixture, kind store.ActivityKind, by store.ActivityQuery) []store.Activity {
	t.Helper()
	today := f.Clock.Now().UTC().Truncate(24 * time.Hour)
	by.Kind, by.From, by.Until = kind, today.AddDate(0, 0, -5), today.AddDate(0, 0, 1)
	return must.Get(f.Activity(t.Context(), storetest.Operator, "ada", by))(t)
}

func download(t *testing.T, f *storetest.Fixture, purchase int64, times int) {
	t.Helper()
	token, _, err := f.Media.CreateLink(t.Context(), storetest.Operator, purchase, 48*time.Hour)
	must.Do(t, err)
	for range times {
		must.Do(t, f.Media.MarkDownloaded(t.Context(), people.Buyer(people.FrontEndPage, storetest.Client), token))
	}
}

func TestLicensesAndDownloadsAreCounted(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		must.Get(f.Media.SetItem(t.Context(), storetest.Operator, 1, media.File, media.Upload{Name: "rain.zip", From: strings.NewReader("rain")}))(t)
		before := f.Clock.Now().UTC().Format(time.DateOnly)
		var sold []store.Purchase
		for _, code := range []string{"first", "second"} {
			p := must.Get(f.CreatePurchase(t.Context(), storetest.Operator, "ada", store.Purchase{ItemID: 1, License: "Regular", Code: code}))(t)
			sold = append(sold, p)
		}
		issue := func(code, domain string) {
			t.Helper()
			must.Get(f.Licensing.Issue(t.Context(), storetest.Operator, storetest.Issuer, code, domain))(t)
		}
		issue("first", "a.example")
		issue("first", "a.example") // the same license again
		download(t, f, sold[0].ID, 2)
		f.Clock.Set(f.Clock.Now().Add(24 * time.Hour))
		after := f.Clock.Now().UTC().Format(time.DateOnly)
		issue("second", "b.example")
		issue("second", "localhost")
		download(t, f, sold[0].ID, 1)
		download(t, f, sold[1].ID, 0)

		check := func(when string) {
			t.Helper()
			for kind, want := range map[store.ActivityKind][]store.Activity{
				store.LicensesIssued:  {{Day: before, Count: 1}, {Day: after, Count: 2}},
				store.FilesDownloaded: {{Day: before, Count: 1}, {Day: after, Count: 1}},
			} {
				expect.Equalf(t, cmp.Diff(want, activity(t, f, kind, store.ActivityQuery{By: store.ActivityByDay})), "", "%s, %s by day", when, kind)
				sum := want[0].Count + want[1].Count
				expect.Equalf(t, cmp.Diff([]store.Activity{{Item: 1, Count: sum}}, activity(t, f, kind, store.ActivityQuery{By: store.ActivityByItem})), "", "%s, %s by item", when, kind)
				expect.Equalf(t, cmp.Diff([]store.Activity{{Count: sum}}, activity(t, f, kind, store.ActivityQuery{})), "", "%s, %s together", when, kind)
			}
		}
		check("as they happen")
		f.Execute(t, `UPDATE activity_days SET count = 100`)
		withoutActivity(t, f)
		must.Get(f.Migrate(t.Context()))(t)
		check("after the migration")
		today := f.Clock.Now()
		none, err := f.Activity(t.Context(), storetest.Operator, "bob", store.ActivityQuery{Kind: store.LicensesIssued, From: today.AddDate(0, 0, -5), Until: today.AddDate(0, 0, 1)})
		if diff := cmp.Diff([]store.Activity{}, none, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("of another workspace: %v %s", err, diff)
		}
		_, err = f.Activity(t.Context(), storetest.Operator, "ada", store.ActivityQuery{Kind: store.LicensesIssued, From: today.AddDate(-1, 0, -2), Until: today})
		if !fault.HasCode(err, "time_too_long") || !fault.HasKind(err, countersign.KindInvalid) {
			t.Errorf("a time that is too long: %v", err)
		}
	})
}

// Sums of months that were read before are not those of a month that has changed since.
func TestActivityByItemIsThatOfTheTimeAfterEveryChange(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		r := rand.New(rand.NewPCG(3, 4))
		var sold []string
		for i := range 30 {
			sold = append(sold, storetest.PurchaseText("ada", 1+i%2, fmt.Sprintf("code-%d", i)))
		}
		f.MustImport(t, storetest.Lines(sold...))
		type issued struct {
			at   time.Time
			item int64
		}
		var all []issued
		start := f.Clock.Now().UTC().Truncate(24 * time.Hour)
		for i := range 30 {
			f.Clock.Set(f.Clock.Now().Add(time.Duration(r.IntN(20*24)) * time.Hour))
			must.Get(f.Licensing.Issue(t.Context(), storetest.Operator, storetest.Issuer, fmt.Sprintf("code-%d", i), fmt.Sprintf("site%d.example", i)))(t)
			all = append(all, issued{f.Clock.Now(), int64(1 + i%2)})
			from := start.AddDate(0, 0, r.IntN(100))
			q := store.ActivityQuery{Kind: store.LicensesIssued, From: from, Until: from.AddDate(0, 0, 1+r.IntN(366)), By: store.ActivityByItem}
			got := must.Get(f.Activity(t.Context(), storetest.Operator, "ada", q))(t)
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

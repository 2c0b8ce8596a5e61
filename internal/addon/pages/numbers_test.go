package pages_test

import (
	"errors"
	"net/http"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/addon/numbers"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play/playfake"
)

const numbersPath = "/api-addons/admin/numbers"

// do runs a task of the memberships at once.
func (s *seller) do(t *testing.T, kind string) {
	t.Helper()
	task := jobs.Task{Kind: kind, Key: membership.RepeatingKey, Due: s.clock.Now()}
	err := addontest.Database(t, s.at).Tx(t.Context(), func(tx *addondb.DB) error { return jobs.Put(t.Context(), tx.Queries, task, s.clock.Now()) })
	if err = errors.Join(err, s.RunDue(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// mustReport reads the numbers of the first days of November.
func (s *seller) mustReport(t *testing.T) numbers.Report {
	t.Helper()
	r := must.Get(s.Numbers.Report(t.Context(), operator, numbers.Query{From: noon, To: noon.AddDate(0, 0, 9)}))(t)
	return r
}

func TestNumbersLeaveOutTestPurchasesAndShowRevenue(t *testing.T) {
	sellers(t, func(t *testing.T, s *seller) {
		token, _ := s.buy(t, "user-1", playfake.BuyOptions{ProductID: "gold_monthly"})
		s.buy(t, "user-2", playfake.BuyOptions{ProductID: "silver_monthly"})
		s.buy(t, "user-3", playfake.BuyOptions{ProductID: "gold_monthly", Test: true})
		if r := s.mustReport(t); r.Unread != 2 || len(r.Currencies) != 0 {
			t.Fatalf("before orders are read: %+v", r)
		}
		s.pass(time.Minute)
		s.do(t, membership.KindOrders)
		r := s.mustReport(t)
		first := r.Rows[len(r.Rows)-1]
		if r.Unread != 0 || len(r.Currencies) != 1 || first.New != 2 || first.Active != 2 || first.Revenue[0] <= 0 || r.Rows[0].Active != 2 {
			t.Fatalf("after orders are read: %+v", r)
		}
		paid := first.Revenue[0]
		b := s.signedIn(t)
		b.Get(numbersPath).Status(http.StatusOK).Says("2026-11-01 (so far)", "Paid minus refunded.", "before the store's fee")
		b.Get(numbersPath+"?split=month").Says("2026-11 (so far)", "2026-10")
		if csv := b.Get(numbersPath + ".csv?days=30"); csv.StatusCode != http.StatusOK || csv.Header.Get("Content-Disposition") == "" {
			t.Errorf("the file: %d", csv.StatusCode)
		}
		s.pass(24 * time.Hour)
		must.Do(t, s.play.Refund(s.play.Orders(token)[0], true))
		s.do(t, membership.KindVoided)
		s.pass(time.Minute)
		s.do(t, membership.KindOrders)
		r = s.mustReport(t)
		second := r.Rows[len(r.Rows)-2]
		if second.Refunded != 1 || second.Revenue[0] >= 0 || r.Rows[len(r.Rows)-1].Revenue[0] != paid {
			t.Errorf("after a refund: %+v", r.Rows[len(r.Rows)-2:])
		}
	})
}

// What recurs each month, what ended and what became of free trials, by product and base plan.
func TestNumbersByProductAndPlan(t *testing.T) {
	sellers(t, func(t *testing.T, s *seller) {
		s.buy(t, "user-1", playfake.BuyOptions{ProductID: "silver_monthly"})
		s.buy(t, "user-2", playfake.BuyOptions{ProductID: "gold_monthly", PlanID: "yearly"})
		s.buy(t, "user-3", playfake.BuyOptions{ProductID: "gold_monthly", PlanID: "prepaid"})
		kept, _ := s.buy(t, "user-4", playfake.BuyOptions{ProductID: "gold_monthly", OfferID: "trial"})
		lost, _ := s.buy(t, "user-5", playfake.BuyOptions{ProductID: "gold_monthly", OfferID: "trial"})
		if r := s.mustReport(t); r.Unpriced != 2 || r.Recurring != nil {
			t.Errorf("before the catalogue is read: %+v, %d", r.Recurring, r.Unpriced)
		}
		s.do(t, membership.KindCatalogue)
		if r := s.mustReport(t); r.Unpriced != 0 || !slices.Equal(r.Recurring, []numbers.Amount{{Currency: "EUR", Value: 299 + 417}}) {
			t.Errorf("during the trials: %+v, %d", r.Recurring, r.Unpriced)
		}
		must.Do(t, s.play.Cancel(lost))
		s.pass(8 * 24 * time.Hour)
		s.verify(t, "user-4", kept)
		s.verify(t, "user-5", lost)
		eur := func(value int64) []numbers.Amount { return []numbers.Amount{{Currency: "EUR", Value: value}} }
		want := []numbers.Plan{
			{Product: "gold_monthly", ID: "monthly", Active: 1, New: 2, Churned: 1, TrialsEnded: 2, TrialsOK: 1, Recurring: eur(499)},
			{Product: "gold_monthly", ID: "prepaid", Active: 1, New: 1},
			{Product: "gold_monthly", ID: "yearly", Active: 1, New: 1, Recurring: eur(417)},
			{Product: "silver_monthly", ID: "monthly", Active: 1, New: 1, Recurring: eur(299)},
		}
		if r := s.mustReport(t); !reflect.DeepEqual(r.Plans, want) {
			t.Errorf("%+v", r.Plans)
		}
		s.signedIn(t).Get(numbersPath+"?from=2026-11-09").Says("Monthly recurring revenue", "12.15 EUR", "gold_monthly", "yearly", "1 (50.0 %)", "50.0 % of 2")
	})
}

func TestNumbersOfATimeThatIsNotValid(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	b.Get(numbersPath + "?from=yesterday").Status(http.StatusUnprocessableEntity).Says("Choose a day")
	b.Get(numbersPath + "?from=2020-01-01").Status(http.StatusUnprocessableEntity).Says("1 to 366 days")
	b.Get(numbersPath + "?from=2026-10-30&to=2026-10-01").Status(http.StatusUnprocessableEntity)
	b.Get(numbersPath + ".csv?from=2020-01-01").Status(http.StatusBadRequest)
}

func TestAnErasedPurchaseIsActiveNoLonger(t *testing.T) {
	sellers(t, func(t *testing.T, s *seller) {
		s.buy(t, "user-1", playfake.BuyOptions{ProductID: "gold_monthly"})
		s.buy(t, "user-2", playfake.BuyOptions{ProductID: "gold_monthly"})
		must.Get(s.Members.Erase(t.Context(), operator, "user-1", true))(t)
		r := s.mustReport(t)
		first, last := r.Rows[len(r.Rows)-1], r.Rows[0]
		if last.Active != 1 || first.New != 2 || first.Churned != 1 {
			t.Errorf("active %d, new %d, churned %d", last.Active, first.New, first.Churned)
		}
	})
}

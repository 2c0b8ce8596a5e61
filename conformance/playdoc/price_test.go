package playdoc_test

import (
	"testing"
	"time"

	"github.com/countersign/countersign/conformance/playdoc"
)

func dollars(units int64) playdoc.Money { return playdoc.Money{Currency: "USD", Units: units} }

// renewOn renews at a date of 2026, at noon.
func (s *store) renewOn(token string, month time.Month, day int) {
	s.t.Helper()
	s.now = time.Date(2026, month, day, 12, 0, 0, 0, time.UTC)
	s.do(s.Renew(token))
}

// Alice of the page: the price is raised on the 3rd of March, and hers counts from the 5th of May.
func TestAHigherPriceCountsFromTheFirstRenewalAfter37Days(t *testing.T) {
	for _, accepts := range []bool{true, false} {
		s := open(t)
		s.now = time.Date(2026, 2, 5, 12, 0, 0, 0, time.UTC)
		token := s.acknowledged(playdoc.Purchase{})
		s.now = time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC)
		s.do(s.IncreasePrice("gold", "monthly", dollars(4)))
		got := s.wantState(token, "ACTIVE", 4, 19).LineItems[0].AutoRenewingPlan
		if got.RecurringPrice.Units != 3 || got.PriceChangeDetails.PriceChangeState != "OUTSTANDING" || got.PriceChangeDetails.ExpectedNewPriceChargeTime != "2026-05-05T12:00:00.000Z" {
			t.Errorf("%+v", got.PriceChangeDetails)
		}
		s.renewOn(token, 3, 5)
		s.renewOn(token, 4, 5)
		if price := s.wantState(token, "ACTIVE", 2, 2).LineItems[0].AutoRenewingPlan.RecurringPrice; price.Units != 3 {
			t.Errorf("%+v", price)
		}
		if !accepts {
			s.now = time.Date(2026, 5, 5, 12, 0, 0, 0, time.UTC)
			if got := s.wantState(token, "EXPIRED", 3, 13); got.CanceledStateContext.SystemInitiatedCancellation == nil {
				t.Errorf("%+v", got.CanceledStateContext)
			}
			continue
		}
		s.do(s.AcceptPrice(token))
		s.wantState(token, "ACTIVE", 19, 8)
		s.renewOn(token, 5, 5)
		got = s.wantState(token, "ACTIVE", 19, 2).LineItems[0].AutoRenewingPlan
		if got.RecurringPrice.Units != 4 || got.PriceChangeDetails.PriceChangeState != "APPLIED" || got.PriceChangeDetails.ExpectedNewPriceChargeTime != "" {
			t.Errorf("%+v, %+v", got.RecurringPrice, got.PriceChangeDetails)
		}
	}
}

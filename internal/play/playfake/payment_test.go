package playfake_test

import (
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/play/playfake"
)

// declined returns a shop with a subscription whose first renewal was declined at its end.
func declined(t *testing.T, o playfake.BuyOptions) (s *shop, token string, end time.Time) {
	t.Helper()
	s = newShop(t)
	token = s.buy(o)
	s.wantCodes(play.CodePurchased)
	s.must(s.DeclineCard(token))
	end = s.get(token).Items[0].ExpiresAt
	s.AdvanceTo(end)
	return s, token, end
}

func TestADeclinedCardLeadsThroughGraceAndHoldToTheEnd(t *testing.T) {
	s, token, end := declined(t, playfake.BuyOptions{})
	s.want(token, play.Active, end) // the silent day
	s.Advance(day - time.Second)
	s.want(token, play.Active, end)
	s.Advance(time.Second)
	grace := s.want(token, play.InGracePeriod, end.Add(8*day), play.CodeInGracePeriod)
	if grace.PendingOrder == "" || grace.PendingOrder == grace.Items[0].OrderID || !grace.Items[0].AutoRenews {
		t.Errorf("in the grace period: %+v", grace)
	}
	orders, err := s.client.Orders(t.Context(), []string{grace.PendingOrder})
	s.must(err)
	expect.Equalf(t, orders[0].State, "pending", "the order")
	s.Advance(7 * day)
	hold := s.want(token, play.OnHold, end, play.CodeOnHold)
	expect.Equalf(t, hold.PendingOrder, grace.PendingOrder, "on hold: %+v", hold)
	s.Advance(53*day - time.Second)
	s.want(token, play.OnHold, end)
	s.Advance(time.Second)
	if got := s.want(token, play.Expired, end, play.CodeCanceled, play.CodeExpired); got.CanceledBy != "system" || got.PendingOrder != "" {
		t.Errorf("at the end: %+v", got)
	}
}

func TestOutOfTheGracePeriodTheRenewalDateStays(t *testing.T) {
	for name, wait := range map[string]time.Duration{"the silent day": time.Hour, "the grace period": 3 * day} {
		t.Run(name, func(t *testing.T) {
			s, token, end := declined(t, playfake.BuyOptions{})
			s.Advance(wait)
			pending := s.get(token).PendingOrder
			s.seen = len(s.Messages())
			s.must(s.Recover(token))
			found := s.want(token, play.Active, end.AddDate(0, 1, 0), play.CodeRenewed)
			if found.PendingOrder != "" || pending != "" && found.Items[0].OrderID != pending {
				t.Errorf("after %s: %+v", name, found)
			}
			s.refused(s.Recover(token))
		})
	}
}

func TestPeriodsThatPassedInTheGracePeriodAreCharged(t *testing.T) {
	s := newShop(t)
	s.must(s.AddProduct(playfake.Product{ID: "weekly", Plans: []playfake.Plan{{ID: "p", Kind: playfake.AutoRenewing, Period: "P1W", Grace: 30}}}))
	token := s.buy(playfake.BuyOptions{ProductID: "weekly"})
	end := s.get(token).Items[0].ExpiresAt
	s.must(s.DeclineCard(token))
	s.AdvanceTo(end.Add(20 * day))
	s.wantCodes(play.CodePurchased, play.CodeInGracePeriod)
	s.must(s.Recover(token))
	s.want(token, play.Active, end.Add(21*day), play.CodeRenewed, play.CodeRenewed, play.CodeRenewed)
}

func TestOutOfAccountHoldTheRenewalDateMoves(t *testing.T) {
	s, token, _ := declined(t, playfake.BuyOptions{})
	s.Advance(20 * day)
	s.wantCodes(play.CodeInGracePeriod, play.CodeOnHold)
	s.must(s.Recover(token))
	s.want(token, play.Active, s.Now().AddDate(0, 1, 0), play.CodeRecovered)
}

func TestGraceAndHoldAreConfigurable(t *testing.T) {
	s := newShop(t)
	price := playfake.Money{Currency: "EUR", Units: 1}
	s.must(s.AddProduct(playfake.Product{ID: "plain", Plans: []playfake.Plan{
		{ID: "no_grace", Kind: playfake.AutoRenewing, Period: "P1M", Price: price, Hold: 30},
		{ID: "nothing", Kind: playfake.AutoRenewing, Period: "P1M", Price: price, Hold: -1},
	}}))
	noGrace, nothing := s.buy(playfake.BuyOptions{ProductID: "plain", PlanID: "no_grace"}), s.buy(playfake.BuyOptions{ProductID: "plain", PlanID: "nothing"})
	s.wantCodes(play.CodePurchased, play.CodePurchased)
	s.must(s.DeclineCard(noGrace))
	s.must(s.DeclineCard(nothing))
	end := s.get(noGrace).Items[0].ExpiresAt
	s.AdvanceTo(end.Add(day))
	s.want(noGrace, play.OnHold, end, play.CodeOnHold, play.CodeCanceled, play.CodeExpired)
	s.want(nothing, play.Expired, end)
	s.Advance(30 * day)
	s.want(noGrace, play.Expired, end, play.CodeCanceled, play.CodeExpired)
}

func TestATesterIsInGraceAndHoldForMinutes(t *testing.T) {
	s, token, end := declined(t, playfake.BuyOptions{Test: true})
	s.want(token, play.InGracePeriod, end.Add(5*time.Minute), play.CodeInGracePeriod)
	s.Advance(5 * time.Minute)
	s.want(token, play.OnHold, end, play.CodeOnHold)
	s.Advance(10 * time.Minute)
	s.want(token, play.Expired, end, play.CodeCanceled, play.CodeExpired)
}

func TestCancellingWithADeclinedCardEndsAtOnce(t *testing.T) {
	s, token, end := declined(t, playfake.BuyOptions{})
	s.Advance(20 * day)
	s.wantCodes(play.CodeInGracePeriod, play.CodeOnHold)
	s.must(s.Cancel(token))
	s.want(token, play.Expired, end, play.CodeCanceled, play.CodeExpired)
}

func TestAPendingPurchaseIsPaidOrGivenUp(t *testing.T) {
	s := newShop(t)
	paid, left, canceled := s.buy(playfake.BuyOptions{Pending: true}), s.buy(playfake.BuyOptions{Pending: true}), s.buy(playfake.BuyOptions{Pending: true})
	found := s.want(paid, play.Pending, time.Time{})
	if !found.StartedAt.IsZero() || found.Items[0].OrderID != "" {
		t.Errorf("pending: %+v", found)
	}
	s.Advance(day)
	s.must(s.Pay(paid))
	s.ack(paid)
	s.want(paid, play.Active, s.Now().AddDate(0, 1, 0), play.CodePurchased)
	s.must(s.CancelPending(canceled))
	s.want(canceled, play.PendingPurchaseCanceled, time.Time{}, play.CodePendingCanceled)
	s.Advance(2 * day)
	s.want(left, play.PendingPurchaseCanceled, time.Time{}, play.CodePendingCanceled)
	s.refused(s.Pay(left))
}

func TestAChangeOfThePrice(t *testing.T) {
	higher := playfake.Money{Currency: "EUR", Units: 6}
	t.Run("that is accepted", func(t *testing.T) {
		s := newShop(t)
		token := s.buy(playfake.BuyOptions{})
		end := s.get(token).Items[0].ExpiresAt
		s.must(s.ChangePrice("gold_monthly", "monthly", higher, playfake.PriceIncrease))
		change := s.want(token, play.Active, end, play.CodePurchased, play.CodePriceChanged).Items[0].PriceChange
		if change == nil || change.State != "outstanding" || !change.NeedsConsent || change.Price.Units != 6 || !change.ExpectedAfter.Equal(end.AddDate(0, 1, 0)) {
			t.Fatalf("the change is %+v", change)
		}
		s.must(s.AcceptPrice(token))
		s.refused(s.AcceptPrice(token))
		if got := s.want(token, play.Active, end, play.CodePriceChanged, play.CodePriceConfirmed).Items[0]; got.PriceChange.State != "confirmed" || got.Price.Units != 4 {
			t.Errorf("accepted: %+v, %+v", got, got.PriceChange)
		}
		s.AdvanceTo(end)
		if got := s.want(token, play.Active, end.AddDate(0, 1, 0), play.CodeRenewed).Items[0]; got.Price.Units != 4 || got.PriceChange.State != "confirmed" {
			t.Errorf("renewed within the 37 days: %+v, %+v", got, got.PriceChange)
		}
		s.AdvanceTo(end.AddDate(0, 1, 0))
		if got := s.want(token, play.Active, end.AddDate(0, 2, 0), play.CodeRenewed).Items[0]; got.Price.Units != 6 || got.PriceChange.State != "applied" {
			t.Errorf("renewed: %+v, %+v", got, got.PriceChange)
		}
	})
	t.Run("that is not accepted", func(t *testing.T) {
		s := newShop(t)
		token := s.buy(playfake.BuyOptions{})
		end := s.get(token).Items[0].ExpiresAt
		s.must(s.ChangePrice("gold_monthly", "monthly", higher, playfake.PriceIncrease))
		s.AdvanceTo(end.AddDate(0, 1, 0))
		s.want(token, play.Expired, end.AddDate(0, 1, 0), play.CodePurchased, play.CodePriceChanged, play.CodeRenewed, play.CodeCanceled, play.CodeExpired)
	})
	t.Run("after an offer", func(t *testing.T) {
		s := newShop(t)
		token := s.buy(playfake.BuyOptions{})
		end := s.get(token).Items[0].ExpiresAt
		s.must(s.ChangePrice("gold_monthly", "monthly", higher, playfake.PriceStepUp))
		if got := s.want(token, play.Active, end, play.CodePurchased, play.CodePriceConsentChanged).Items[0]; got.StepUp != "pending" || got.PriceChange != nil {
			t.Errorf("asked: %+v", got)
		}
		s.must(s.AcceptPrice(token))
		expect.Equalf(t, s.want(token, play.Active, end, play.CodePriceConsentChanged).Items[0].StepUp, "confirmed", "accepted")
		s.AdvanceTo(end)
		if got := s.want(token, play.Active, end.AddDate(0, 1, 0), play.CodeRenewed).Items[0]; got.StepUp != "completed" || got.Price.Units != 6 {
			t.Errorf("renewed: %+v", got)
		}
	})
	t.Run("that needs no consent", func(t *testing.T) {
		s := newShop(t)
		token := s.buy(playfake.BuyOptions{})
		end := s.get(token).Items[0].ExpiresAt
		s.must(s.ChangePrice("gold_monthly", "monthly", higher, playfake.OptOutPriceIncrease))
		if change := s.get(token).Items[0].PriceChange; change.NeedsConsent || change.State != "confirmed" {
			t.Errorf("the change is %+v", change)
		}
		s.AdvanceTo(end)
		if got := s.want(token, play.Active, end.AddDate(0, 1, 0), play.CodePurchased, play.CodePriceChanged, play.CodeRenewed).Items[0]; got.Price.Units != 6 {
			t.Errorf("renewed: %+v", got)
		}
	})
}

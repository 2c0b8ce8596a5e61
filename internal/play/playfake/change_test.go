package playfake_test

import (
	"testing"
	"time"

	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/play/playfake"
)

func TestACancelledSubscriptionLastsUntilItsEnd(t *testing.T) {
	s := newShop(t)
	token := s.buy(playfake.BuyOptions{})
	end := s.get(token).Items[0].ExpiresAt
	s.must(s.Cancel(token))
	if got := s.want(token, play.Canceled, end, play.CodePurchased, play.CodeCanceled); got.CanceledBy != "user" || !got.CanceledAt.Equal(s.Now()) || got.Items[0].AutoRenews {
		t.Errorf("cancelled: %+v", got)
	}
	s.must(s.UndoCancel(token))
	if got := s.want(token, play.Active, end, play.CodeRestarted); got.CanceledBy != "" || !got.Items[0].AutoRenews {
		t.Errorf("restored: %+v", got)
	}
	s.must(s.Cancel(token))
	s.AdvanceTo(end)
	s.want(token, play.Expired, end, play.CodeCanceled, play.CodeExpired)
	s.refused(s.UndoCancel(token))
	s.refused(s.Cancel(token))
}

func TestAPauseBeginsWithTheNextPeriod(t *testing.T) {
	s := newShop(t)
	token := s.buy(playfake.BuyOptions{})
	end := s.get(token).Items[0].ExpiresAt
	s.must(s.Pause(token, 30*day))
	s.want(token, play.Active, end, play.CodePurchased, play.CodePauseChanged)
	s.AdvanceTo(end)
	if got := s.want(token, play.Paused, end, play.CodePaused); !got.AutoResumeAt.Equal(end.Add(30 * day)) {
		t.Errorf("it resumes at %v", got.AutoResumeAt)
	}
	s.Advance(30 * day)
	s.want(token, play.Active, end.Add(30*day).AddDate(0, 1, 0), play.CodeRecovered)

	s.must(s.Pause(token, 30*day))
	s.must(s.Resume(token))
	s.refused(s.Resume(token))
	s.wantCodes(play.CodePauseChanged, play.CodePauseChanged)
}

func TestAPauseEndsByHandOrInAccountHold(t *testing.T) {
	s := newShop(t)
	resumed, held := s.buy(playfake.BuyOptions{}), s.buy(playfake.BuyOptions{})
	end := s.get(held).Items[0].ExpiresAt
	s.must(s.Pause(resumed, 30*day))
	s.must(s.Pause(held, 30*day))
	s.AdvanceTo(end.Add(5 * day))
	s.must(s.DeclineCard(held))
	s.seen = len(s.Messages())
	s.must(s.Resume(resumed))
	s.want(resumed, play.Active, s.Now().AddDate(0, 1, 0), play.CodeRecovered)
	s.must(s.Resume(held))
	s.want(held, play.OnHold, end, play.CodeOnHold)
}

func TestAnUpgradeLinksToWhatItReplaces(t *testing.T) {
	s := newShop(t)
	old := s.buy(playfake.BuyOptions{ProductID: "silver_monthly", Account: "a"})
	s.wantCodes(play.CodePurchased)
	s.Advance(10 * day)
	next := s.buy(playfake.BuyOptions{Replaces: old, Account: "a"})
	if got := s.want(next, play.Active, s.Now().AddDate(0, 1, 0), play.CodePurchased, play.CodeExpired); got.LinkedToken != old {
		t.Errorf("it replaces %q", got.LinkedToken)
	}
	if got := s.want(old, play.Expired, s.Now()); got.CanceledBy != "replacement" {
		t.Errorf("the old one was cancelled by %q", got.CanceledBy)
	}
	_, err := s.Buy(playfake.BuyOptions{ProductID: "gold_monthly", Replaces: old})
	s.refused(err)
}

func TestForAWhileBothTokensLookActive(t *testing.T) {
	s := newShop(t)
	old := s.buy(playfake.BuyOptions{ProductID: "silver_monthly"})
	end := s.get(old).Items[0].ExpiresAt
	next := s.buy(playfake.BuyOptions{Replaces: old, Overlap: time.Hour, Mode: playfake.KeepDate})
	if got := s.want(old, play.Active, end, play.CodePurchased, play.CodePurchased); got.Items[0].AutoRenews {
		t.Error("the old one still renews")
	}
	if got := s.want(next, play.Active, end); got.Items[0].Phase != "proration" {
		t.Errorf("the phase is %s", got.Items[0].Phase)
	}
	s.Advance(time.Hour)
	s.want(old, play.Expired, s.Now(), play.CodeExpired)
}

func TestAReplacementCanStayUnnoticedForAWhile(t *testing.T) {
	s := newShop(t)
	old := s.buy(playfake.BuyOptions{ProductID: "silver_monthly"})
	next, err := s.Buy(playfake.BuyOptions{ProductID: "gold_monthly", Replaces: old, Overlap: time.Hour, Unnoticed: true})
	s.must(err)
	s.refused(s.Renew(old))
	s.Advance(2 * time.Hour)
	if !s.get(old).Items[0].AutoRenews {
		t.Error("the old one does not look as before")
	}
	s.must(s.client.Acknowledge(t.Context(), "gold_monthly", next, "", ""))
	s.Advance(0)
	s.want(old, play.Expired, s.Now(), play.CodePurchased, play.CodePurchased, play.CodeExpired)
}

func TestADowngradeCanWaitForTheRenewal(t *testing.T) {
	s := newShop(t)
	old := s.buy(playfake.BuyOptions{})
	end := s.get(old).Items[0].ExpiresAt
	next := s.buy(playfake.BuyOptions{ProductID: "silver_monthly", Replaces: old, Mode: playfake.Deferred})
	s.wantCodes(play.CodePurchased, play.CodePurchased, play.CodeExpired)
	got := s.get(next)
	if got.State != play.Active || len(got.Items) != 2 || got.Items[0].ProductID != "gold_monthly" || got.Items[0].Deferred != "silver_monthly" ||
		!got.Items[0].ExpiresAt.Equal(end) || got.Items[1].ProductID != "silver_monthly" || got.Items[1].OrderID != "" || !got.Items[1].ExpiresAt.IsZero() {
		t.Fatalf("until the renewal: %+v", got.Items)
	}
	s.AdvanceTo(end)
	got = s.want(next, play.Active, end.AddDate(0, 1, 0), play.CodeRenewed)
	if len(got.Items) != 1 || got.Items[0].ProductID != "silver_monthly" || got.Items[0].OrderID == "" {
		t.Errorf("after the renewal: %+v", got.Items)
	}
}

func TestAPendingUpgradeRetiresNothing(t *testing.T) {
	s := newShop(t)
	old := s.buy(playfake.BuyOptions{ProductID: "silver_monthly"})
	end := s.get(old).Items[0].ExpiresAt
	next := s.buy(playfake.BuyOptions{Replaces: old, Pending: true})
	if got := s.get(next); got.State != play.Pending || got.LinkedToken != old {
		t.Errorf("the new one is %+v", got)
	}
	s.want(old, play.Active, end, play.CodePurchased)
	s.must(s.Pay(next))
	s.want(old, play.Expired, s.Now(), play.CodePurchased, play.CodeExpired)
}

func TestAReplacementNeedsAnAcknowledgedSubscription(t *testing.T) {
	s := newShop(t)
	old, err := s.Buy(playfake.BuyOptions{ProductID: "silver_monthly"})
	s.must(err)
	_, err = s.Buy(playfake.BuyOptions{ProductID: "gold_monthly", Replaces: old})
	s.refused(err)
	_, err = s.Buy(playfake.BuyOptions{ProductID: "gold_monthly", Replaces: "unknown"})
	s.refused(err)
	_, err = s.Buy(playfake.BuyOptions{ProductID: "unknown"})
	s.refused(err)
	_, err = s.Buy(playfake.BuyOptions{ProductID: "gold_monthly", OfferID: "unknown"})
	s.refused(err)
}

func TestAPrepaidPlanIsToppedUp(t *testing.T) {
	s := newShop(t)
	begin := s.Now()
	token := s.buy(playfake.BuyOptions{PlanID: "prepaid"})
	if got := s.want(token, play.Active, s.month(begin, 1), play.CodePurchased); !got.Items[0].Prepaid || got.Items[0].AutoRenews {
		t.Errorf("the item is %+v", got.Items[0])
	}
	s.Advance(10 * day)
	more, err := s.TopUp(token)
	s.must(err)
	if got := s.want(more, play.Active, s.month(begin, 2), play.CodePurchased, play.CodeExpired); got.LinkedToken != token || got.Acknowledged {
		t.Errorf("the new purchase is %+v", got)
	}
	s.ack(more)
	s.refused(s.Cancel(more))
	s.refused(s.DeclineCard(more))
	s.AdvanceTo(s.month(begin, 2))
	s.want(more, play.Expired, s.month(begin, 2), play.CodeExpired)
	_, err = s.TopUp(s.buy(playfake.BuyOptions{}))
	s.refused(err)
}

func TestInstalmentsEndWithTheCommittedPayments(t *testing.T) {
	s := newShop(t)
	begin := s.Now()
	token := s.buy(playfake.BuyOptions{PlanID: "installments"})
	s.Advance(31 * day)
	s.wantCodes(play.CodePurchased, play.CodeRenewed)
	s.must(s.Cancel(token))
	got := s.want(token, play.Active, s.month(begin, 2), play.CodeCancelScheduled).Items[0]
	if got.Installments == nil || *got.Installments != (play.Installments{Initial: 12, Remaining: 10, Ending: true}) || !got.AutoRenews {
		t.Errorf("the item is %+v, %+v", got, got.Installments)
	}
	s.AdvanceTo(s.month(begin, 12))
	want := []any{}
	for range 10 {
		want = append(want, play.CodeRenewed)
	}
	s.want(token, play.Expired, s.month(begin, 12), append(want, play.CodeCanceled, play.CodeExpired)...)

	stopped := s.buy(playfake.BuyOptions{PlanID: "installments"})
	s.must(s.client.Cancel(t.Context(), stopped, play.StopPayments))
	s.want(stopped, play.Canceled, s.Now().AddDate(0, 1, 0), play.CodePurchased, play.CodeCanceled)
}

func TestAddOnsComeAndGo(t *testing.T) {
	s := newShop(t)
	token := s.buy(playfake.BuyOptions{AddOns: []playfake.Line{{ProductID: "extra_storage"}}})
	if got := s.get(token).Items; len(got) != 2 || got[0].OrderID != got[1].OrderID {
		t.Fatalf("the items are %+v", got)
	}
	s.must(s.AddItem(token, playfake.Line{ProductID: "silver_monthly"}))
	s.must(s.RemoveItem(token, "extra_storage"))
	s.wantCodes(play.CodePurchased, play.CodeItemsChanged, play.CodeItemsChanged)
	if got := s.get(token).Items; len(got) != 3 || !got[1].DeferredRemoval || got[1].AutoRenews {
		t.Errorf("the items are %+v", got)
	}
	s.AdvanceTo(s.get(token).Items[0].ExpiresAt)
	got := s.get(token).Items
	if len(got) != 2 || got[1].ProductID != "silver_monthly" {
		t.Errorf("after the renewal: %+v", got)
	}
	orders, err := s.client.Orders(t.Context(), []string{got[0].OrderID})
	s.must(err)
	if *orders[0].Total != (play.Money{Currency: "EUR", Units: 7, Nanos: 980_000_000}) {
		t.Errorf("the order is over %+v", orders[0].Total)
	}
	s.refused(s.RemoveItem(token, "extra_storage"))
}

func TestAChargeBackOfAnOldOrderEndsNothing(t *testing.T) {
	s := newShop(t)
	token := s.buy(playfake.BuyOptions{})
	s.Advance(31 * day)
	end := s.get(token).Items[0].ExpiresAt
	orders := s.Orders(token)
	review, err := s.ReviewChargeback(orders[0])
	s.must(err)
	if review == "" {
		t.Error("no token for the answer")
	}
	s.wantCodes(play.CodePurchased, play.CodeRenewed, 0)
	s.must(s.ChargeBack(orders[0]))
	s.want(token, play.Active, end, "V")
	s.must(s.ChargeBack(orders[1]))
	s.want(token, play.Expired, s.Now(), "V", play.CodeRevoked)
	s.refused(s.ChargeBack(orders[1]))
	list, _, err := s.client.Voided(t.Context(), time.Time{}, time.Time{}, "")
	s.must(err)
	if len(list) != 2 || list[0].Reason != 7 || list[0].OrderID != orders[0] {
		t.Errorf("the voided list is %+v", list)
	}
}

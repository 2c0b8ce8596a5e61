package pages_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/play/playfake"
)

func TestAChargebackReviewIsAnsweredOnce(t *testing.T) {
	sellers(t, func(t *testing.T, s *seller) {
		token, _ := s.buy(t, "user-7", playfake.BuyOptions{ProductID: "gold_monthly"})
		order := s.play.Orders(token)[0]
		must.Get(s.play.ReviewChargeback(order))(t)
		s.mustPush(t)
		b := s.signedIn(t)
		b.Get(notificationsPath).Says("A buyer disputes an order", order, "Answer it", "Chargeback review")
		page := notificationsPath + "/review?order=" + order
		b.Get(page).Status(http.StatusOK).Says("Only the first answer within 24 hours counts")
		b.Post(notificationsPath+"/review", "order", "GPA.0", "preference", "DECLINE").Status(http.StatusNotFound).Says("has not asked about this order")
		b.Post(notificationsPath+"/review", "order", order, "preference", "maybe").Status(http.StatusUnprocessableEntity)
		b.Post(notificationsPath+"/review", "order", order, "preference", "DECLINE", "sample", "1").LeadsTo(notificationsPath)
		expect.Equalf(t, s.play.ReviewAnswer(order), "DECLINE", "the store")
		b.Get(notificationsPath).Says("The answer was sent to the store.", "Answered").SilentAbout("Answer it")
		b.Post(notificationsPath+"/review", "order", order, "preference", "APPROVE").Status(http.StatusConflict).Says("it was answered already")
		feed := must.Get(s.Events.List(t.Context(), people.Operator("tester"), 0, 100))(t)
		if last := feed.Events[len(feed.Events)-1]; last.Type != events.PurchaseChargeback {
			t.Errorf("the last event is %s", last.Type)
		}
	})
}

// mustPush delivers all messages of the simulated Play.
func (s *seller) mustPush(t *testing.T) {
	t.Helper()
	for _, m := range s.play.Messages() {
		bearer, body, err := s.play.Push(m)
		if err == nil {
			err = s.Members.ReceivePush(context.WithoutCancel(t.Context()), bearer, body)
		}
		must.Do(t, err)
	}
}

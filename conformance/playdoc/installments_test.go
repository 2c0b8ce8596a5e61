package playdoc_test

import (
	"testing"
	"time"

	"github.com/countersign/countersign/conformance/playdoc"
)

func TestACancellationOfInstallmentsWaitsForTheCommittedPayments(t *testing.T) {
	s := open(t)
	s.now = time.Date(2026, 2, 5, 12, 0, 0, 0, time.UTC)
	token := s.acknowledged(playdoc.Purchase{Product: "gold", Plan: "installments"})
	s.do(s.Cancel(token))
	got := s.wantState(token, "ACTIVE", 4, 18).LineItems[0].AutoRenewingPlan
	if d := got.InstallmentDetails; !got.AutoRenewEnabled || d.InitialCommittedPaymentsCount != 3 || d.RemainingCommittedPaymentsCount != 2 || d.PendingCancellation == nil {
		t.Errorf("%+v", d)
	}
	s.renewOn(token, 3, 5)
	s.renewOn(token, 4, 5)
	s.wantState(token, "ACTIVE", 2, 2)
	s.due(token)
	if want := time.Date(2026, 5, 5, 12, 0, 0, 0, time.UTC); !s.now.Equal(want) {
		t.Errorf("ends %v", s.now)
	}
	if got := s.wantState(token, "EXPIRED", 3, 13); got.CanceledStateContext.UserInitiatedCancellation == nil {
		t.Errorf("%+v", got.CanceledStateContext)
	}
}

func TestTheDeveloperCancelsInstallmentsAtOnce(t *testing.T) {
	s := open(t)
	token := s.acknowledged(playdoc.Purchase{Product: "gold", Plan: "installments"})
	s.do(s.Cancel(token))
	s.want(200, "POST", "purchases/subscriptionsv2/tokens/"+token+":cancel", `{"cancellationContext":{"cancellationType":"DEVELOPER_REQUESTED_STOP_PAYMENTS"}}`)
	s.wantState(token, "CANCELED", 4, 18, 3)
}

package playdoc_test

import (
	"testing"
	"time"

	"github.com/countersign/countersign/conformance/playdoc"
)

func TestALicenseTestersMonthHasFiveMinutesAndSixRenewals(t *testing.T) {
	s := open(t)
	token := s.acknowledged(playdoc.Purchase{Test: true})
	got := s.wantState(token, "ACTIVE", 4)
	if s.wantExpiry(got, "2026-01-31T12:05:00.000Z"); got.TestPurchase == nil {
		t.Errorf("%+v", got)
	}
	for range 6 {
		s.now = s.now.Add(5 * time.Minute)
		s.do(s.Renew(token))
	}
	s.wantState(token, "ACTIVE", 2, 2, 2, 2, 2, 2)
	s.now = s.now.Add(5 * time.Minute)
	s.wantState(token, "EXPIRED", 3, 13)
}

func TestALicenseTesterHasMinutesOfGraceAndOfHold(t *testing.T) {
	s := open(t)
	token := s.acknowledged(playdoc.Purchase{Test: true})
	s.do(s.Decline(token))
	s.now = s.now.Add(5 * time.Minute)
	s.wantState(token, "IN_GRACE_PERIOD", 4, 6)
	s.now = s.now.Add(5 * time.Minute)
	s.wantState(token, "ON_HOLD", 5)
	s.now = s.now.Add(10 * time.Minute)
	s.wantState(token, "EXPIRED", 3, 13)
}

func TestALicenseTestersPurchaseIsAcknowledgedWithinFiveMinutes(t *testing.T) {
	s := open(t)
	token := s.buy(playdoc.Purchase{Test: true})
	s.now = s.now.Add(5 * time.Minute)
	s.wantState(token, "EXPIRED", 4, 0, 12)
}

package playdoc_test

import (
	"encoding/json"
	"testing"

	"github.com/countersign/countersign/conformance/playdoc"
)

func TestTheFirstAnswerToAChargebackReviewCounts(t *testing.T) {
	s := open(t)
	order := s.LastOrder(s.acknowledged(playdoc.Purchase{Account: "a1"}))
	s.Messages()
	s.do(s.ReviewChargeback(order))
	var sent struct {
		Review struct {
			Token   string `json:"pendingRefundToken"`
			Order   string `json:"orderId"`
			Account string `json:"obfuscatedAccountId"`
		} `json:"pendingRefundReviewNotification"`
	}
	if err := json.Unmarshal(s.Messages()[0].Data, &sent); err != nil || sent.Review.Order != order || sent.Review.Account != "a1" {
		t.Errorf("%v, %+v", err, sent)
	}
	path := "orders/" + order + ":reviewrefund"
	for body, status := range map[string]int{
		`{}`: 400,
		`{"pendingRefundToken":"other","sampleContentProvided":false,"refundPreference":"APPROVE"}`:                     400,
		`{"pendingRefundToken":"` + sent.Review.Token + `","sampleContentProvided":false,"refundPreference":"PERHAPS"}`: 400,
	} {
		s.want(status, "POST", path, body)
	}
	for _, preference := range []string{"DECLINE", "APPROVE"} {
		s.want(200, "POST", path, `{"pendingRefundToken":"`+sent.Review.Token+`","sampleContentProvided":true,"refundPreference":"`+preference+`"}`)
	}
	if got := s.ReviewAnswer(order); got != "DECLINE" {
		t.Errorf("the answer is %q", got)
	}
}

package pages

import (
	"net/http"
	"net/url"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/play"
)

// preferenceChoices are the answers to a chargeback review.
var preferenceChoices = []frame.Choice{
	{Value: string(play.DeclineRefund), Label: "Decline the refund"}, {Value: string(play.ApproveRefund), Label: "Approve the refund"}, {Value: string(play.NoPreference), Label: "No preference"},
}

// answerReview answers the store's question about the chargeback of an order.
func (p *Pages) answerReview(w http.ResponseWriter, r *frame.Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	order := r.URL.Query().Get("order")
	if r.Method == http.MethodPost {
		order = in.Get("order")
	}
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Answer a chargeback review", Crumbs: crumbs(frame.Link{Label: "Notifications", Path: pathNotifications}),
		Consequence: "A buyer has asked the bank for the money of an order. Your answer is advice: the store and the bank decide. Only the first answer within 24 hours counts.",
		Path:        pathReview, Label: "Send the answer", Cancel: pathNotifications, Safe: true, Failed: "Nothing was sent.",
		Fields: []frame.Field{
			{Name: "order", Label: "Order", Value: order, Code: true, Required: true, Help: "As the alert names it."},
			{Name: "preference", Label: "Your answer", Kind: frame.Select, Value: string(play.DeclineRefund), Choices: preferenceChoices},
			{Name: "sample", Label: "A free sample or trial was offered", Kind: frame.Switch, On: in.Get("sample") == "1"},
		},
		Form: frame.Form{
			Fields: []string{"order", "preference"},
			About:  map[string]string{"review": "order"},
			Check:  frame.Required("order", "Type the order, like GPA.1234-5678-9012-34567."),
			Do: func(in url.Values) error {
				if err := p.addon.Members.AnswerReview(r.Context(), r.Actor, in.Get("order"), play.RefundPreference(in.Get("preference")), in.Get("sample") == "1"); err != nil {
					return err
				}
				return p.frame.Redirect(w, r, pathNotifications, "The answer was sent to the store.")
			},
		},
	})
}

package countersign

import (
	"errors"
	"os"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

// verdict is what a caller of ValidatePurchase has to tell apart.
type verdict string

const (
	valid      verdict = "valid"
	notValid   verdict = "not valid"
	cannotTell verdict = "could not tell"
)

func TestValidatePurchaseTellsApart(t *testing.T) {
	code := func(c string) map[string]string { return map[string]string{"X-Error-Code": c} }
	tests := []struct {
		rule   string
		answer odd
		want   verdict
	}{
		{"success is valid", odd{body: validated("A")}, valid},
		{"success is valid whatever the status of HTTP", odd{status: 404, body: validated("A")}, valid},
		{"success with a byte order mark is valid", odd{body: "\ufeff" + validated("A")}, valid},
		{"success without a purchase", odd{body: `{"status":"success","data":{}}`}, cannotTell},
		{"success with a null for data", odd{body: `{"status":"success","data":null}`}, cannotTell},
		{"success without data", odd{body: `{"status":"success"}`}, cannotTell},
		{"success with a member of another type", odd{body: `{"status":"success","data":{"purchase":{"price":[]}}}`}, cannotTell},
		{"success in other letters is no success", odd{body: `{"status":"Success","data":{"purchase":{}}}`}, cannotTell},
		{"true is no success", odd{body: `{"status":true,"data":{"purchase":{}}}`}, cannotTell},

		{"404 with our message", odd{status: 404, body: envelope("Invalid purchase code")}, notValid},
		{"404 with another message", odd{status: 404, body: envelope("Unknown license")}, notValid},
		{"404 with an envelope without a message", odd{status: 404, body: `{"status":"error"}`}, notValid},
		{"200 with our message", odd{body: envelope("Invalid purchase code")}, notValid},
		{"400 with our message", odd{status: 400, body: envelope("Invalid purchase code")}, notValid},
		{"our message in other letters", odd{body: envelope("INVALID Purchase Code")}, notValid},
		{"the message in message", odd{body: `{"status":"error","msg":"","message":"Invalid purchase code"}`}, notValid},
		{"the message in error", odd{body: `{"status":"error","error":"Invalid purchase code"}`}, notValid},
		{"the message without an envelope", odd{status: 404, body: `{"message":"Invalid purchase code"}`}, notValid},
		{"a code about the purchase", odd{status: 404, header: code(CodePurchaseRefunded), body: envelope("Invalid purchase code")}, notValid},
		{"a code about the purchase with 200", odd{header: code(CodePurchaseRevoked), body: envelope("Sorry")}, notValid},
		{"a code about the purchase that is not known yet", odd{header: code("purchase_lost"), body: envelope("Sorry")}, notValid},

		{"a page with 404", odd{status: 404, body: page}, cannotTell},
		{"a page with 404 and a code", odd{status: 404, header: code(CodePurchaseNotFound), body: page}, cannotTell},
		{"a page with 200", odd{body: page}, cannotTell},
		{"nothing with 200", odd{}, cannotTell},
		{"nothing with 404", odd{status: 404}, cannotTell},
		{"a JSON string", odd{body: `"Invalid purchase code"`}, cannotTell},
		{"a JSON null", odd{status: 404, body: `null`}, cannotTell},
		{"a JSON array", odd{status: 404, body: `[]`}, cannotTell},
		{"a framework's 404", odd{status: 404, body: `{"message":"The route could not be found."}`}, cannotTell},
		{"our own 404 for a wrong path", odd{status: 404, header: code(CodeNotFound), body: envelope("Not found")}, cannotTell},
		{"a code of ours that is not about a purchase", odd{status: 404, header: code(CodeNotFound), body: envelope("No such place")}, cannotTell},
		{"our 404 for a wrong path without its code", odd{status: 404, body: envelope("Not Found")}, cannotTell},
		{"401", odd{status: 401, body: envelope("Invalid request")}, cannotTell},
		{"401 with the message for codes", odd{status: 401, body: envelope("Invalid purchase code")}, cannotTell},
		{"403 with the message for codes", odd{status: 403, body: envelope("Invalid purchase code")}, cannotTell},
		{"200 with the message for keys", odd{body: envelope("Invalid request")}, cannotTell},
		{"404 with the message for keys", odd{status: 404, body: envelope("Invalid request")}, cannotTell},
		{"200 with a code about the key", odd{header: code(CodeKeyExpired), body: envelope("Invalid purchase code")}, cannotTell},
		{"200 with an unknown message", odd{body: envelope("Something happened")}, cannotTell},
		{"429", odd{status: 429, body: envelope("Too many requests")}, cannotTell},
		{"429 with the message for codes", odd{status: 429, body: envelope("Invalid purchase code")}, cannotTell},
		{"200 with the code of a limit", odd{header: code(CodeRateLimited), body: envelope("Invalid purchase code")}, cannotTell},
		{"500 with the message for codes", odd{status: 500, body: envelope("Invalid purchase code")}, cannotTell},
		{"503 with a page", odd{status: 503, body: page}, cannotTell},
		{"a redirect with a code", odd{status: 302, header: map[string]string{"Location": "/login", "X-Error-Code": CodePurchaseNotFound}}, cannotTell},
		{"not modified", odd{status: 304}, cannotTell},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			got, err := answering(t, tt.answer).ValidatePurchase(t.Context(), "A")
			expect.Equalf(t, verdictOf(got, err), tt.want, "(%+v, %v)", got, err)
			if !got.Valid && got.Purchase.PurchaseCode != "" {
				t.Errorf("a purchase came with an answer that is not valid: %+v", got)
			}
		})
	}
}

func verdictOf(v Validation, err error) verdict {
	switch {
	case err != nil && !v.Valid:
		return cannotTell
	case err == nil && v.Valid:
		return valid
	case err == nil:
		return notValid
	}
	return "valid and an error"
}

func TestValidatePurchaseGivesTheReason(t *testing.T) {
	c := answering(t, odd{
		status: 404,
		header: map[string]string{"X-Error-Code": CodePurchaseChargedBack},
		body:   envelope("Invalid purchase code"),
	})
	got, err := c.ValidatePurchase(t.Context(), "A")
	if want := (Validation{Reason: "purchase_charged_back"}); err != nil || got.Reason != want.Reason || got.Valid {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

// TestKindOfFailure: a caller can tell a bad key from a bad moment, also when a store answers 200 to everything.
func TestKindOfFailure(t *testing.T) {
	code := func(c string) map[string]string { return map[string]string{"X-Error-Code": c} }
	tests := []struct {
		rule   string
		answer odd
		want   Kind
	}{
		{"401", odd{status: 401, body: envelope("Invalid request")}, KindUnauthorized},
		{"a framework's 401", odd{status: 401, body: `{"message":"Unauthenticated."}`}, KindUnauthorized},
		{"403", odd{status: 403, header: code(CodeKeyScope), body: envelope("Invalid request")}, KindForbidden},
		{"429", odd{status: 429, body: envelope("Too many requests")}, KindLimited},
		{"502", odd{status: 502, body: envelope("Bad gateway")}, KindUnavailable},
		{"200 with a code about the key", odd{header: code(CodeKeyUnknown), body: envelope("Invalid request")}, KindUnauthorized},
		{"200 with the message for keys", odd{body: envelope("Invalid request")}, KindUnauthorized},
		{"200 with the message of a limit", odd{body: envelope("Too Many Requests")}, KindLimited},
		{"200 with an unknown message", odd{body: envelope("Closed on Mondays")}, KindInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			_, err := answering(t, tt.answer).ValidatePurchase(t.Context(), "A")
			var refused *Error
			if !errors.As(err, &refused) || refused.Kind != tt.want {
				t.Errorf("got %v, want an Error of the kind %v", err, tt.want)
			}
		})
	}
}

func TestValidatePurchaseReadsBothGenerations(t *testing.T) {
	until := mustTime("2025-04-27T12:00:00Z")
	tests := []struct {
		file            string
		name            string
		version         Version
		price, extended Money
		published, date string
		supportedUntil  *Timestamp
		options         int
	}{
		{
			file: "validation-first-generation.txt", name: `Say "version": 1.0.0, twice`, version: "1.0.0",
			price: 4900, extended: 19900, published: "2024-04-27T12:00:00Z", date: "2024-04-27T12:00:00Z",
			supportedUntil: &until, options: 1,
		},
		{
			file: "validation-later-generation.txt", name: "Rain Film", version: "1.10",
			price: 4900, extended: 19990, published: "2024-09-22T05:02:13Z", date: "2024-09-27T13:53:47Z",
		},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			body := must.Get(os.ReadFile("testdata/" + tt.file))(t)
			got, err := answering(t, odd{body: string(body)}).ValidatePurchase(t.Context(), "7c0f3b1e")
			if err != nil || !got.Valid {
				t.Fatalf("got %+v, %v", got, err)
			}
			p := got.Purchase
			if p.Item.ID != 1229 || p.Item.Name != tt.name || p.Item.Version != tt.version || len(p.Item.Options) != tt.options {
				t.Errorf("item %+v", p.Item)
			}
			if p.Price != tt.price || p.Item.Price.Extended != tt.extended {
				t.Errorf("prices %v and %v", p.Price, p.Item.Price)
			}
			if p.Item.PublishedAt.String() != tt.published || p.Date.String() != tt.date {
				t.Errorf("published %v, sold %v", p.Item.PublishedAt, p.Date)
			}
			if (p.SupportedUntil == nil) != (tt.supportedUntil == nil) || p.SupportedUntil != nil && *p.SupportedUntil != *tt.supportedUntil {
				t.Errorf("supported until %v, want %v", p.SupportedUntil, tt.supportedUntil)
			}
			if p.Item.Media.Thumbnail != "https://shop.example/t.png" || p.Item.Media.PreviewImage != nil {
				t.Errorf("media %+v", p.Item.Media)
			}
		})
	}
}

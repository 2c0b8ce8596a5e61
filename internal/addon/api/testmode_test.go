package api_test

import (
	"encoding/json"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/api"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/addon/simulator"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/play/playfake"
)

// In test mode an app calls the same endpoints: simulated purchases are verified, and real ones
// are not. The real store is not called.
func TestAppsVerifySimulatedPurchasesInTestMode(t *testing.T) {
	t.Parallel()
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := newSeller(t, at)
		h := api.New(s.Addon, options())
		real := s.buy(t, "user-7", playfake.BuyOptions{ProductID: "gold_monthly"})
		_, err := s.Settings.Set(t.Context(), operator, settings.Edit{}, map[string]string{iap.KeySandboxEnabled: "1"})
		check(t, err)
		_, err = s.Settings.Publish(t.Context(), operator, 0, "Test mode")
		check(t, err)
		step, err := s.Simulator.Buy(t.Context(), operator, simulator.Order{User: "user-7", Product: "gold_monthly"})
		check(t, err)

		var read struct {
			Membership json.RawMessage `json:"membership"`
		}
		s.ask(t, h, 200, "GET", "iap/membership", "", s.app("user-7"), &read)
		var bought struct {
			Membership json.RawMessage `json:"membership"`
		}
		check(t, json.Unmarshal(step.Answer, &bought))
		if string(read.Membership) != string(bought.Membership) {
			t.Errorf("the app reads %s, and the step shows %s", read.Membership, bought.Membership)
		}
		for token := range buyers(t, at) {
			var verified countersign.IAPVerification
			s.ask(t, h, 200, "POST", "iap/verify", `{"purchase_token":"`+token+`"}`, s.app("user-7"), &verified)
			if verified.Result != "unchanged" || verified.Purchase.Environment != "simulated" {
				t.Errorf("%+v", verified)
			}
			s.ask(t, h, 409, "POST", "iap/verify", `{"purchase_token":"`+token+`"}`, s.app("user-8"), nil)
		}
		s.ask(t, h, 503, "POST", "iap/verify", `{"purchase_token":"`+real+`"}`, s.app("user-7"), nil)
		if n := s.play.TotalCalls("/"); n != 0 {
			t.Errorf("%d calls of the real store", n)
		}
	})
}

// buyers are the users by purchase token in the sealed state of the simulated store.
func buyers(t *testing.T, at dbtest.DB) map[string]string {
	t.Helper()
	sealed, err := addontest.Database(t, at).Simulator(t.Context())
	check(t, err)
	box, err := keyfile.Load(at.Dir)
	check(t, err)
	text, err := box.Open("simulated store", sealed)
	check(t, err)
	var state struct{ Buyers map[string]string }
	check(t, json.Unmarshal(text, &state))
	if len(state.Buyers) != 1 {
		t.Fatalf("%d purchases", len(state.Buyers))
	}
	return state.Buyers
}

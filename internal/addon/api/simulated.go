package api

import (
	"net/http"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/web"
)

// addSimulatedPurchase answers POST /api-addons/iap/simulated/purchases: in test mode, the app of a user buys.
func (f *frontEnd) addSimulatedPurchase(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Product  string `json:"product_id"`
		Replaces string `json:"replaces_token"`
	}
	user, err := f.appBody(w, r, &in)
	if err != nil {
		return err
	}
	if err := take(w, f.verifications, user, maxVerifications, 1); err != nil {
		return err
	}
	bought, err := f.addon.Simulator.BuyForApp(r.Context(), user, in.Product, in.Replaces)
	if err != nil {
		return publicPurchase(err)
	}
	return web.Object(w, struct {
		Status string `json:"status"`
		countersign.IAPSimulatedPurchase
	}{"success", bought})
}

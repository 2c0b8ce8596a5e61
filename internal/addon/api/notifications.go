package api

import (
	"net/http"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/play"
)

// receiveNotification answers POST /api-addons/iap/notifications/store, which the app's store
// calls. The notification is stored, and processed later.
func (f *frontEnd) receiveNotification(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(w, r, play.MaxPush)
	if err != nil {
		return err
	}
	if err := f.installed(r); err != nil {
		return err
	}
	if err := f.addon.ReceivePush(r.Context(), bearer(r), body); err != nil {
		err = f.failed(w, publicPurchase(err))
		if fault.HasKind(err, countersign.KindUnauthorized) {
			w.Header()["Www-Authenticate"] = tokenChallenge
		}
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

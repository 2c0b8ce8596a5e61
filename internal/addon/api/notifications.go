package api

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/play"
)

// receiveNotification answers POST /api-addons/iap/notifications/store, which the app's store
// calls. The notification is stored, and processed later.
func (f *frontEnd) receiveNotification(w http.ResponseWriter, r *http.Request) error {
	body, err := readPush(w, r)
	if err != nil {
		return err
	}
	if err := f.installed(r); err != nil {
		return err
	}
	if err := f.addon.Members.ReceivePush(r.Context(), bearer(r), body); err != nil {
		err = f.failed(w, publicPurchase(err))
		if fault.HasKind(err, countersign.KindUnauthorized) {
			w.Header()["Www-Authenticate"] = tokenChallenge
		}
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// readPush reads a push, which something between the store and here may have compressed: refused, it would come again and again.
func readPush(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := readBody(w, r, play.MaxPush)
	if err != nil || !strings.EqualFold(strings.TrimSpace(r.Header.Get("Content-Encoding")), "gzip") {
		return body, err
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return body, nil // it is not a push, and refused as such
	}
	plain, err := io.ReadAll(io.LimitReader(z, play.MaxPush+1))
	switch {
	case len(plain) > play.MaxPush:
		return nil, tooLarge(play.MaxPush, err)
	case err != nil:
		return nil, badBody("The compressed body is incomplete or damaged. Nothing was changed. Send it again", err)
	}
	return plain, nil
}

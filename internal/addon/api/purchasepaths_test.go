package api_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/addon/api"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/web"
)

// purchasePaths are the paths of purchases and user tokens, whether they are built or not.
var purchasePaths = []string{
	"auth/user-token", "auth/user",
	"iap/intents", "iap/verify", "iap/restore", "iap/membership", "iap/purchases",
	"iap/users/7/membership", "iap/users/7/purchases", "iap/users/7/grants", "iap/users/7/grants/1", "iap/users/merge", "iap/users/7",
	"iap/purchases/1/refresh", "iap/purchases/1/transfer", "iap/purchases/1/refuse", "iap/purchases/1/cancel", "iap/purchases/1/revoke", "iap/purchases/1/defer",
	"iap/events", "iap/notifications/store", "iap/nothing", "auth/nothing", "iap/", "auth/",
}

// Nobody who has no credentials gets anything but an error there, whatever the request looks like. It is
// a page only for a browser that opens an address that leads nowhere.
func TestPathsOfPurchasesAnswerErrorsAsJSON(t *testing.T) {
	page := web.NewEdge(web.Options{}).Wrap(func(w http.ResponseWriter, _ *http.Request) error {
		_, err := io.WriteString(w, "<!doctype html>")
		return err
	})
	pages := http.NewServeMux()
	pages.Handle("/", page)
	for name, all := range map[string]http.Handler{"with pages": pages, "without pages": nil} {
		t.Run(name, func(t *testing.T) {
			o := options()
			o.Pages = all
			h := api.New(filled(t, dbtest.New(t, dbtest.SQLite)).Addon, o)
			for _, path := range purchasePaths {
				for _, method := range []string{"GET", "POST", "PUT", "DELETE", "PATCH", "TRACE"} {
					r := httptest.NewRequest(method, "/api-addons/"+path, strings.NewReader(`{"user_id":"7"}`))
					r.RemoteAddr = "127.0.0.1:4321"
					r.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
					w := httptest.NewRecorder()
					h.ServeHTTP(w, r)
					if nowhere := strings.HasSuffix(path, "/") || strings.HasSuffix(path, "/nothing"); all != nil && nowhere && method == "GET" {
						expect.Equalf(t, w.Body.String(), "<!doctype html>", "%s %s in a browser: %s", method, path, w.Body)
						continue
					}
					expect.NoErrorf(t, purchaseError(w.Result()), "%s %s", method, path)
				}
			}
		})
	}
}

// purchaseError returns what is wrong with an error of these paths.
func purchaseError(res *http.Response) error {
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	var said struct {
		Status, Msg, Message, Code string
		Retryable                  *bool
		RequestID                  string `json:"request_id"`
		Details                    map[string]any
	}
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	if err := d.Decode(&said); err != nil {
		return fmt.Errorf("%d %s: %w", res.StatusCode, body, err)
	}
	h := res.Header
	switch {
	case !slices.Contains([]int{400, 401, 404, 405}, res.StatusCode), h.Get("Content-Type") != "application/json; charset=utf-8", h.Get("Cache-Control") != "no-store":
		return fmt.Errorf("%d %v", res.StatusCode, h)
	case said.Status != "error", said.Msg == "", said.Msg != said.Message, said.Code == "", said.Code != h.Get("X-Error-Code"),
		said.Retryable == nil || *said.Retryable, said.RequestID != h.Get("X-Request-Id"), said.Details == nil:
		return fmt.Errorf("%d %s", res.StatusCode, body)
	}
	return nil
}

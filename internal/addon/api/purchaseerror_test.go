package api

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/web"
)

func TestErrorsOfPurchases(t *testing.T) {
	for _, c := range []struct {
		rule   string
		err    error
		status int
		body   string // without status, message and request id
	}{
		{"refused credentials have one code, and the reason", fault.Unauthorized("nonce_used", "M"), 401, `"code":"unauthorized","retryable":false,"details":{"reason":"nonce_used"}`},
		{"an expired token has a code of its own", fault.Unauthorized(credential.CodeUserTokenExpired, "M"), 401, `"code":"user_token_expired","retryable":false,"details":{}`},
		{"a wrong body", badBody("M", nil), 400, `"code":"invalid_request","retryable":false,"details":{}`},
		{"a wrong value is named", fault.WithFields(fault.Invalid("user_id_invalid", "M"), map[string]string{"user_id": "why"}), 400, `"code":"invalid_request","retryable":false,"details":{"fields":{"user_id":"why"}}`},
		{"a large body", fault.New(countersign.KindTooLarge, countersign.CodeBodyTooLarge, "M"), 413, `"code":"too_large","retryable":false,"details":{}`},
		{"credentials that can't be read are the operator's fault", fault.Conflict("credential_not_kept", "M"), 503, `"code":"not_configured","retryable":true,"details":{}`},
		{"what is known of an error is a detail", fault.WithData(fault.Conflict("owned_by_other_user", "M"), map[string]int{"a": 1}), 409, `"code":"owned_by_other_user","retryable":false,"details":{"a":1}`},
		{"what can't be encoded is left out", fault.WithData(fault.Conflict("conflict", "M"), func() {}), 409, `"code":"conflict","retryable":false,"details":{}`},
		{"a limit passes", fault.Limited("rate_limited", "M", time.Second), 429, `"code":"rate_limited","retryable":true,"details":{}`},
		{"an outage passes", fault.Unavailable("store_unavailable", "M"), 503, `"code":"store_unavailable","retryable":true,"details":{}`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			edge := web.NewEdge(web.Options{ErrorBody: errorBody})
			mux := http.NewServeMux()
			mux.Handle("POST /api-addons/iap/verify", edge.Wrap(withPurchaseCodes(func(http.ResponseWriter, *http.Request) error { return c.err })))
			w := httptest.NewRecorder()
			edge.Handler(mux).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/api-addons/iap/verify", nil))
			id := `"request_id":"` + w.Header().Get("X-Request-Id") + `",`
			body := strings.Replace(w.Body.String(), id, "", 1)
			want := `{"status":"error","msg":"M","message":"M",` + c.body + `}`
			if w.Code != c.status || body != want || !strings.Contains(w.Body.String(), id) {
				t.Errorf("%d %s, want %d %s", w.Code, w.Body, c.status, want)
			}
			if code := w.Header().Get("X-Error-Code"); !strings.Contains(c.body, `"code":"`+code+`"`) {
				t.Errorf("X-Error-Code: %s", code)
			}
		})
	}
}

// The log keeps what it would have had.
func TestCodesOfPurchasesLeaveOtherErrorsAsTheyAre(t *testing.T) {
	for _, err := range []error{nil, errors.New("broken"), fault.Unavailable("busy", "M")} {
		if got := withPurchaseCodes(func(http.ResponseWriter, *http.Request) error { return err })(nil, nil); !errors.Is(got, err) {
			t.Errorf("%v became %v", err, got)
		}
	}
}

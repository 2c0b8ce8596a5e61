package api_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/api"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

func TestAnswersToAppsAreCounted(t *testing.T) {
	s := filled(t, dbtest.New(t, dbtest.SQLite))
	h := api.New(s.Addon, options())
	const settings, iap = "/api-addons/app/settings", "/api-addons/iap/config"
	for _, tt := range []struct {
		name, method, path string
		header             []string
		want               addon.Requests
	}{
		{"a read of the settings", "GET", settings, nil, addon.Requests{Settings: 1}},
		{"a read that finds nothing new", "GET", settings, []string{"If-None-Match", "*"}, addon.Requests{Settings: 1}},
		{"a read of the view of purchases", "GET", iap, nil, addon.Requests{IAP: 1}},
		{"a look at the header is no read", "HEAD", settings, nil, addon.Requests{}},
		{"a preflight is no read", "OPTIONS", iap, nil, addon.Requests{}},
		{"a wrong method is no read", "POST", settings, nil, addon.Requests{}},
		{"another address is not counted", "GET", "/api-addons/app/nothing", nil, addon.Requests{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := must.Get(s.Requests(t.Context(), operator))(t)
			r := httptest.NewRequest(tt.method, tt.path, nil)
			for i := 0; i < len(tt.header); i += 2 {
				r.Header.Set(tt.header[i], tt.header[i+1])
			}
			h.ServeHTTP(httptest.NewRecorder(), r)
			after := must.Get(s.Requests(t.Context(), operator))(t)
			expect.Equal(t, (addon.Requests{Settings: after.Settings - before.Settings, IAP: after.IAP - before.IAP}), tt.want)
		})
	}
}

func TestWhatIsNotAnsweredIsNotCounted(t *testing.T) {
	s := newSite(t, dbtest.New(t, dbtest.SQLite))
	if w := get(api.New(s.Addon, options()), "/api-addons/app/settings"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("%d before the first update", w.Code)
	}
	s.update(t)
	if got, err := s.Requests(t.Context(), operator); err != nil || got.Total() != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

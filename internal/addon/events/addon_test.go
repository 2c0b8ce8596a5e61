package events_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/must"
)

// A server delivers what another program appended.
func TestARunningAddonDeliversEvents(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		type received struct {
			header http.Header
			body   string
		}
		got := make(chan received, 1)
		s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			got <- received{r.Header, string(body)}
		}))
		defer s.Close()
		f.Serve(t)
		other := f.Again(t)
		w, secret, err := other.Events.AddWebhook(t.Context(), addontest.Operator, s.URL, nil)
		must.Do(t, err)
		id := must.Get(other.Events.Ping(t.Context(), addontest.Operator, w.ID))(t)
		one := <-got
		v := countersign.WebhookVerifier{Secrets: []string{string(secret)}, Now: f.Clock.Now}
		if err := v.Verify(one.header, []byte(one.body)); err != nil || !strings.Contains(one.body, id) || one.header.Get("User-Agent") != "Countersign/1.2.3" {
			t.Errorf("%+v, %v", one, err)
		}
	})
}

// A program with API credentials reads events, and manages no webhooks.
func TestAProgramReadsEvents(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		if _, err := f.Events.List(t.Context(), addontest.Program, 0, 0); err != nil {
			t.Error(err)
		}
		_, err := f.Events.Webhooks(t.Context(), addontest.Program)
		addontest.WantError(t, err, "not_allowed")
		publishable := addontest.Program
		publishable.Secret = false
		_, err = f.Events.Wait(t.Context(), publishable, 0, 0, events.MaxWait)
		addontest.WantError(t, err, "not_allowed")
	})
}

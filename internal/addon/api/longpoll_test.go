package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/api"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/web"
)

// A server that stops answers those who wait for events. Otherwise it would break them off.
func TestAWaitForEventsEndsWhenTheServerStops(t *testing.T) {
	t.Parallel()
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := updated(t, at)
		h := api.New(s.Addon, options())
		entered := make(chan struct{})
		listener := must.Get(web.Listen("127.0.0.1:0"))(t)
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() {
			served <- web.Serve(ctx, listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				close(entered)
				h.ServeHTTP(w, r)
			}), web.ServerOptions{})
		}()
		go func() {
			<-entered
			stop()
		}()
		r := must.Get(http.NewRequest("GET", "http://"+listener.Addr().String()+"/api-addons/iap/events?wait=25", nil))(t)
		r.SetBasicAuth(s.pair.Key, s.pair.Secret)
		answer := must.Get(http.DefaultClient.Do(r))(t)
		defer answer.Body.Close()
		var feed countersign.IAPFeed
		must.Do(t, json.NewDecoder(answer.Body).Decode(&feed))
		if answer.StatusCode != 200 || len(feed.Events) != 0 || feed.Cursor != 0 || feed.Missed {
			t.Errorf("%d %+v", answer.StatusCode, feed)
		}
		must.Do(t, <-served)
	})
}

// deadlines notes the deadlines that a handler sets.
type deadlines struct {
	*httptest.ResponseRecorder
	read, write []time.Time
}

func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.read = append(d.read, at)
	return nil
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.write = append(d.write, at)
	return nil
}

// The deadlines of other requests are shorter than a wait.
func TestAWaitForEventsHasDeadlinesOfItsOwn(t *testing.T) {
	s := newSeller(t, dbtest.New(t, dbtest.SQLite))
	must.Do(t, s.grant(t, "7"))
	w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	r := httptest.NewRequest("GET", "/api-addons/iap/events?wait=25", nil)
	r.RemoteAddr = "127.0.0.1:4321"
	r.SetBasicAuth(s.pair.Key, s.pair.Secret)
	begun := time.Now()
	api.New(s.Addon, options()).ServeHTTP(w, r)
	if w.Code != 200 || len(w.read) != 1 || !w.read[0].IsZero() || len(w.write) != 1 || w.write[0].Before(begun.Add(25*time.Second)) {
		t.Errorf("%d, deadlines for reading %v, for writing %v", w.Code, w.read, w.write)
	}
}

func (s *seller) grant(t testing.TB, user string) error {
	_, err := s.Members.AddGrant(t.Context(), operator, user, 1, time.Time{}, "test")
	return err
}

package events

import (
	"net/http"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/must"
)

func TestFiguresCountWebhooksByTheirState(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		want := func(when string, want Figures) {
			t.Helper()
			if got, err := p.Measure(t.Context()); err != nil || got != want {
				t.Errorf("%s: %+v, %v; want %+v", when, got, err, want)
			}
		}
		want("none", Figures{})
		r := newReceiver(t)
		w, _ := p.webhook(t, r)
		want("a new one", Figures{Active: 1})
		r.answer(http.StatusBadGateway)
		p.add(t, "ana")
		p.run(t)
		p.Move(2 * time.Hour)
		want("it fails", Figures{Failing: 1, FailingFor: 2 * time.Hour})
		r.answer(http.StatusGone)
		p.run(t)
		want("it is gone", Figures{Paused: 1})
		must.Get(p.Resume(t.Context(), operator, w.ID))(t)
		must.Get(p.Pause(t.Context(), operator, w.ID))(t)
		want("somebody paused it", Figures{})
	})
}

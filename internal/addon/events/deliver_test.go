package events

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/must"
)

// wantGenuine wants what was received to be signed with a secret.
func wantGenuine(t *testing.T, p *process, got received, secret SecretText) {
	t.Helper()
	v := countersign.WebhookVerifier{Secrets: []string{string(secret)}, Now: p.Now}
	expect.NoError(t, v.Verify(got.header, []byte(got.body)))
}

func TestAnEventIsDeliveredOnceToAllWebhooksThatWantItsType(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		all, some, none := newReceiver(t), newReceiver(t), newReceiver(t)
		w, secret := p.webhook(t, all)
		p.webhook(t, some, MembershipRenewed, PurchaseRefunded)
		p.webhook(t, none, PurchaseRefunded)
		id := p.add(t, "ana")[0]
		for range 2 {
			p.run(t)
		}
		got := all.take()
		if len(got) != 1 || len(some.take()) != 1 || len(none.take()) != 0 {
			t.Fatalf("%+v", got)
		}
		wantGenuine(t, p, got[0], secret)
		if body := string(p.read(t, 0, 0).Events[0].Body); got[0].id != id || got[0].body != body {
			t.Errorf("%+v, want %s %s", got[0], id, body)
		}
		want := Delivery{ID: 1, Webhook: w.ID, Event: id, Type: MembershipRenewed, State: Delivered, Attempts: 1, CreatedAt: noon, EndedAt: noon, LastStatus: 204}
		expect.Equal(t, p.only(t, w.ID), want)
	})
}

func TestADeliveryThatFailsIsTriedTenTimes(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		r := newReceiver(t)
		r.answer(http.StatusInternalServerError)
		w, secret := p.webhook(t, r)
		id := p.add(t, "ana")[0]
		p.run(t)
		for i, wait := range deliverRetries {
			if d := p.newest(t, w.ID, Pending); d.Event != id || d.Attempts != int64(i)+1 || !d.NextAt.Equal(p.Now().Add(wait)) || d.LastStatus != 500 {
				t.Errorf("after %d attempts: %+v", i+1, d)
			}
			r.answer(http.StatusNoContent) // for another event, so that the webhook is not paused
			p.add(t, "ben")
			p.run(t)
			r.answer(http.StatusInternalServerError)
			p.Move(wait - time.Second)
			p.run(t)
			r.take()
			p.Move(time.Second)
			p.run(t)
			if got := r.take(); len(got) != 1 || got[0].id != id {
				t.Fatalf("attempt %d: %+v", i+2, got)
			} else {
				wantGenuine(t, p, got[0], secret)
			}
		}
		d := p.newest(t, w.ID, Failed)
		if d.Event != id || d.Attempts != 10 || !d.EndedAt.Equal(p.Now()) || !d.NextAt.IsZero() {
			t.Errorf("%+v", d)
		}
		_, attempts, err := p.Delivery(t.Context(), operator, d.ID)
		if err != nil || len(attempts) != 10 || attempts[1].Status != 500 || attempts[1].At.Sub(attempts[0].At) != 10*time.Second {
			t.Errorf("%+v, %v", attempts, err)
		}
	})
}

// newest returns the newest delivery in a state.
func (p *process) newest(t *testing.T, webhook int64, state State) Delivery {
	t.Helper()
	list, err := p.Deliveries(t.Context(), operator, webhook, DeliveryFilter{State: state})
	if err != nil || len(list) == 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	return list[0]
}

func TestAReceiverCanAskForALongerWait(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		r := newReceiver(t)
		r.answer(http.StatusTooManyRequests)
		r.header.Set("Retry-After", "120")
		w, _ := p.webhook(t, r)
		p.add(t, "ana")
		p.run(t)
		if d := p.only(t, w.ID); !d.NextAt.Equal(noon.Add(2 * time.Minute)) {
			t.Errorf("%+v", d)
		}
	})
}

func TestAReceiverThatIsGonePausesItsWebhook(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		r := newReceiver(t)
		r.answer(http.StatusGone)
		w, _ := p.webhook(t, r)
		p.add(t, "ana")
		p.run(t)
		if d := p.only(t, w.ID); d.State != Failed || d.Attempts != 1 {
			t.Errorf("%+v", d)
		}
		if w := p.state(t, w.ID); w.PausedFor != PausedGone || !w.PausedAt.Equal(noon) {
			t.Errorf("%+v", w)
		}
		last := p.audits(t)[len(p.audits(t))-1]
		if want := "countersign webhook.pause 1 " + strings.TrimPrefix(strings.TrimSuffix(r.url, "/hooks"), "http://") + ": its receiver answered 410 Gone"; last != want {
			t.Errorf("%q, want %q", last, want)
		}
		if found, err := p.CheckWebhooks(t.Context()); err != nil || !strings.Contains(found.What, "is paused: its receiver answered 410 Gone") {
			t.Errorf("%+v, %v", found, err)
		}
		p.add(t, "ben")
		if p.run(t); len(r.take()) != 1 {
			t.Error("sent to a paused webhook")
		}
	})
}

// Nothing is lost while a webhook is paused.
func TestAWebhookThatFailsForThreeDaysIsPausedAndSendsAllWhenItIsResumed(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		r := newReceiver(t)
		r.answer(http.StatusBadGateway)
		w, _ := p.webhook(t, r)
		first := p.add(t, "ana")[0]
		p.run(t)
		if found, err := p.CheckWebhooks(t.Context()); err != nil || !strings.Contains(found.What, "have failed since 2026-11-01 12:00 UTC") {
			t.Errorf("%+v, %v", found, err)
		}
		p.Move(pauseAfter - time.Second)
		second := p.add(t, "ben")[0]
		p.run(t)
		expect.Equalf(t, p.state(t, w.ID).PausedFor, "", "paused too early")
		p.Move(time.Minute)
		p.run(t)
		expect.Equalf(t, p.state(t, w.ID).PausedFor, PausedFailing, "not paused")
		third := p.add(t, "cleo")[0]
		r.take()
		r.answer(http.StatusOK)
		p.Move(time.Hour * 24)
		if p.run(t); len(r.take()) > 0 {
			t.Error("sent to a paused webhook")
		}
		must.Get(p.Resume(t.Context(), operator, w.ID))(t)
		p.run(t)
		var got []string
		for _, one := range r.take() {
			got = append(got, one.id)
		}
		slices.Sort(got)
		want := []string{first, second, third}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("received %v, want %v", got, want)
		}
		if w := p.state(t, w.ID); w.PausedFor != "" || !w.FailingSince.IsZero() {
			t.Errorf("%+v", w)
		}
	})
}

func TestReceiversThatHangDelayNoOther(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		hang, healthy := make(chan struct{}, deliverWorkers), make(chan struct{}, deliverWorkers)
		var gaveUp atomic.Int64
		end := make(chan struct{})
		s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // or the end of the connection would not be noticed
			if r.URL.Path == "/healthy" {
				healthy <- struct{}{}
				return
			}
			hang <- struct{}{}
			select {
			case <-end:
			case <-r.Context().Done():
				gaveUp.Add(1)
			}
		}))
		t.Cleanup(s.Close)
		for i := range maxWebhooks - 1 {
			p.webhook(t, &receiver{url: fmt.Sprintf("%s/%d", s.URL, i)})
		}
		for range 2 * deliverTogether {
			p.add(t, "ana")
		}
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { p.queue.Run(ctx) })
		defer running.Wait()
		defer stop()
		defer close(end)
		for range deliverTogether * (maxWebhooks - 1) {
			<-hang
		}
		p.webhook(t, &receiver{url: s.URL + "/healthy"})
		p.add(t, "ana")
		<-healthy
		if n := gaveUp.Load(); n > 0 {
			t.Errorf("%d deliveries had to end first", n)
		}
	})
}

// Whoever has repaired the receiver does not wait for the schedule.
func TestAResumeSendsAtOnceWhatWaitsForAnotherAttempt(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		r := newReceiver(t)
		r.answer(http.StatusBadGateway)
		w, _ := p.webhook(t, r)
		p.add(t, "ana")
		for _, wait := range deliverRetries[:5] {
			p.Move(wait)
			p.run(t)
		}
		r.answer(http.StatusOK)
		r.take()
		must.Get(p.Pause(t.Context(), operator, w.ID))(t)
		must.Get(p.Resume(t.Context(), operator, w.ID))(t)
		if p.run(t); len(r.take()) != 1 || p.only(t, w.ID).State != Delivered {
			t.Error("not sent at once")
		}
	})
}

func TestAPausedWebhookHoldsWhatIsDue(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		r := newReceiver(t)
		w, _ := p.webhook(t, r)
		p.add(t, "ana")
		for range 2 {
			must.Get(p.Pause(t.Context(), operator, w.ID))(t)
		}
		if p.run(t); len(r.take()) > 0 || p.only(t, w.ID).State != Held {
			t.Error("sent to a paused webhook")
		}
		if _, err := p.Ping(t.Context(), operator, w.ID); err == nil {
			t.Error("a paused webhook is tested")
		}
		for range 2 {
			must.Get(p.Resume(t.Context(), operator, w.ID))(t)
		}
		if p.run(t); len(r.take()) != 1 || p.only(t, w.ID).State != Delivered {
			t.Error("not sent once")
		}
		if got := len(p.audits(t)); got != 3 {
			t.Errorf("%d audit entries: %v", got, p.audits(t))
		}
	})
}

func TestEventsAreSentAgain(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		r := newReceiver(t)
		w, _ := p.webhook(t, r, MembershipRenewed, TestPing)
		first := p.add(t, "ana")[0]
		p.Move(time.Hour)
		second := p.add(t, "ben")[0]
		ping := must.Get(p.Ping(t.Context(), operator, w.ID))(t)
		wantSent := func(what string, want ...string) {
			t.Helper()
			p.run(t)
			var got []string
			for _, one := range r.take() {
				got = append(got, one.id)
			}
			if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		}
		wantSent("at first", first, second, ping)
		must.Do(t, p.Replay(t.Context(), operator, w.ID, p.newest(t, w.ID, "").ID))
		wantSent("the newest", ping)
		for since, want := range map[time.Time][]string{noon: {first, second}, p.Now(): {second}} {
			if n, err := p.ReplaySince(t.Context(), operator, w.ID, since); err != nil || n != len(want) {
				t.Errorf("%d, %v", n, err)
			}
			wantSent("since "+since.String(), want...)
		}
		wantError(t, p.Replay(t.Context(), operator, w.ID, 99), "delivery_not_found")
		other, _ := p.webhook(t, newReceiver(t))
		wantError(t, p.Replay(t.Context(), operator, other.ID, 1), "delivery_not_found")
		if d := p.newest(t, w.ID, ""); d.Attempts != 2 || d.State != Delivered {
			t.Errorf("%+v", d)
		}
	})
}

// An owner who adds a webhook late can have what happened before.
func TestALateWebhookGetsEarlierEvents(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		p.add(t, "ana", "ben")
		r := newReceiver(t)
		w, _ := p.webhook(t, r)
		if p.run(t); len(r.take()) > 0 {
			t.Error("sent without a replay")
		}
		must.Get(p.ReplaySince(t.Context(), operator, w.ID, noon))(t)
		if p.run(t); len(r.take()) != 2 {
			t.Error("not sent")
		}
	})
}

func TestARemovedWebhookReceivesNothing(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		r := newReceiver(t)
		w, _ := p.webhook(t, r)
		p.add(t, "ana")
		must.Get(p.RemoveWebhook(t.Context(), operator, w.ID))(t)
		if p.run(t); len(r.take()) > 0 {
			t.Error("sent")
		}
		_, err := p.Deliveries(t.Context(), operator, w.ID, DeliveryFilter{})
		wantError(t, err, "webhook_not_found")
	})
}

// A webhook that is removed while something is sent to it takes the record with it.
func TestAWebhookCanBeRemovedDuringADelivery(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		r := newReceiver(t)
		w, _ := p.webhook(t, r)
		p.add(t, "ana")
		work := func(ctx context.Context, run *jobs.Run) (any, error) {
			message, err := p.message(ctx, run, deliverTask{1, w.ID})
			if err != nil {
				return nil, err
			}
			if _, err := p.RemoveWebhook(ctx, operator, w.ID); err != nil {
				return nil, err
			}
			result := p.sender.Send(ctx, *message)
			return nil, p.record(ctx, run, deliverTask{1, w.ID}, result)
		}
		p.queue.Handle(deliverKind, jobs.Kind{Work: work})
		if p.run(t); len(r.take()) != 1 {
			t.Error("not sent")
		}
		if list, err := jobs.List(t.Context(), p.db.Queries, deliverKind); err != nil || len(list) != 1 || list[0].State != jobs.Cancelled {
			t.Errorf("%+v, %v", list, err)
		}
		if strings.Contains(p.log.String(), "level=ERROR") && !strings.Contains(p.log.String(), "another process runs the job") {
			t.Errorf("the log says %s", p.log)
		}
	})
}

// A delivery does not stay pending without a job.
func TestADeliveryWhoseJobFailedHasFailed(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		w, _ := p.webhook(t, newReceiver(t))
		p.add(t, "ana")
		must.Get(p.db.Exec(t.Context(), `UPDATE webhooks SET secret_sealed = old_sealed`))(t)
		for _, wait := range append([]time.Duration{0}, deliverRetries...) {
			if d := p.only(t, w.ID); d.State != Pending {
				t.Errorf("%+v", d)
			}
			p.Move(wait)
			p.run(t)
		}
		if d := p.only(t, w.ID); d.State != Failed || d.Attempts != 0 || !d.EndedAt.Equal(p.Now()) {
			t.Errorf("%+v", d)
		}
	})
}

func TestDeliveriesAreListedInPages(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		r := newReceiver(t)
		w, _ := p.webhook(t, r)
		var users []string
		for i := range 5 {
			users = append(users, fmt.Sprint("user ", i))
		}
		want := p.add(t, users...)
		slices.Reverse(want)
		var got []string
		for f := (DeliveryFilter{Limit: 2}); ; {
			list := must.Get(p.Deliveries(t.Context(), operator, w.ID, f))(t)
			if len(list) == 0 {
				break
			}
			for _, d := range list {
				got = append(got, d.Event)
			}
			f.Before = list[len(list)-1].ID
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		if list, err := p.Deliveries(t.Context(), operator, w.ID, DeliveryFilter{State: Delivered}); err != nil || len(list) != 0 {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

package events

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
)

// beKilled delivers what is due in the addon of a test, and says how far it has come. Every
// question for the time is a step. It waits to be killed at the step with a number, or when it
// has done everything.
func beKilled(step string, place dbtest.DB) error {
	point, err := dbtest.StopAt(step)
	if err != nil {
		return err
	}
	ctx := context.Background()
	p, err := open(ctx, place, func() time.Time { point(); return noon })
	if err != nil {
		return err
	}
	if _, err = p.queue.RunNext(ctx); err != nil {
		return err
	}
	fmt.Println("waiting: done")
	select {}
}

// Wherever a process is killed while it delivers an event, the receiver gets it, and each time
// with the same id.
func TestAKillAnywhereInADeliveryLosesNothing(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		r := newReceiver(t)
		w, _ := p.webhook(t, r)
		for step := range dbtest.Steps(p.place.Engine) {
			if step > 40 {
				t.Fatal("the delivery takes more steps than expected")
			}
			p.Set(noon) // where the process that is killed begins
			id := p.add(t, "ana")[0]
			done := dbtest.Killed(t, p.place, strconv.Itoa(step))
			if done && step < 5 {
				t.Errorf("the delivery has %d steps only", step)
			}
			p.Move(deliverLease + time.Second)
			p.run(t)
			got := r.take()
			if len(got) < 1 || len(got) > 2 || got[0].id != id || got[len(got)-1].id != id {
				t.Errorf("killed at step %d: received %+v", step, got)
			}
			if d := p.newest(t, w.ID, ""); d.Event != id || d.State != Delivered || d.Attempts != 1 {
				t.Errorf("killed at step %d: %+v", step, d)
			}
			if done {
				break
			}
		}
	})
}

// A process is killed while it waits for the receiver, which has the event already.
func TestAKillDuringTheRequestSendsTheEventAgain(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		arrived := make(chan string, 2)
		hold := make(chan struct{})
		var isFirst atomic.Bool
		s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			arrived <- r.Header.Get("Webhook-Id")
			if isFirst.CompareAndSwap(false, true) {
				<-hold
			}
		}))
		defer s.Close()
		defer close(hold)
		w, _, err := p.AddWebhook(t.Context(), operator, s.URL, nil)
		must.Do(t, err)
		id := p.add(t, "ana")[0]
		child := dbtest.StartChild(t, p.place, "0")
		first := <-arrived
		child.Kill()
		child.Wait()
		if ran, err := p.queue.RunNext(t.Context()); ran || err != nil {
			t.Errorf("sent within the lease of the process that was killed: %t, %v", ran, err)
		}
		p.Move(deliverLease + time.Second)
		p.run(t)
		if second := <-arrived; first != id || second != id {
			t.Errorf("received %s and %s, want %s", first, second, id)
		}
		if d := p.only(t, w.ID); d.State != Delivered || d.Attempts != 1 {
			t.Errorf("%+v", d)
		}
	})
}

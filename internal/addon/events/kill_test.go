package events

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
)

// beKilled delivers what is due in the addon of COUNTERSIGN_TEST_DIR.
func beKilled() {
	ctx := context.Background()
	p, err := open(ctx, dbtest.DB{Dir: os.Getenv("COUNTERSIGN_TEST_DIR"), URL: os.Getenv("COUNTERSIGN_TEST_URL")}, &clock{at: noon})
	if err == nil {
		_, err = p.queue.RunNext(ctx)
	}
	fmt.Fprintln(os.Stderr, "the process was not killed:", err)
}

// A receiver that has the webhook sees it again with the same id, because its answer was not
// written; at a kill before that it sees it once.
func TestAKillDuringADeliveryLosesNothing(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		arrived := make(chan string)
		hold := make(chan struct{})
		var kills atomic.Bool
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			arrived <- r.Header.Get("Webhook-Id")
			if kills.CompareAndSwap(false, true) {
				<-hold
			}
		}))
		defer s.Close()
		defer close(hold)
		w, _, err := p.AddWebhook(t.Context(), operator, s.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		id := p.add(t, "ana")[0]

		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "COUNTERSIGN_TEST_DIR="+p.place.Dir, "COUNTERSIGN_TEST_URL="+p.place.URL)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if got := <-arrived; got != id {
			t.Errorf("%s, want %s", got, id)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()

		if ran, err := p.queue.RunNext(t.Context()); ran || err != nil {
			t.Errorf("sent within the lease of the process that was killed: %t, %v", ran, err)
		}
		p.pass(deliverLease + time.Second)
		again := make(chan string, 1)
		go func() { again <- <-arrived }()
		p.run(t)
		if got := <-again; got != id {
			t.Errorf("%s, want %s", got, id)
		}
		if d := p.only(t, w.ID); d.State != Delivered || d.Attempts != 1 {
			t.Errorf("%+v", d)
		}
	})
}

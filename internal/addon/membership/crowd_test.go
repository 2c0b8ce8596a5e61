package membership

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/entitle"
	"golang.org/x/sync/semaphore"
)

func TestVerificationsBeyondThoseThatWaitForTheStoreWaitAndAreThenQueued(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		const underWay = 4
		f.places = semaphore.NewWeighted(underWay)
		asked, answer := make(chan struct{}, 2*underWay), make(chan struct{})
		f.store.asked = func(string) { asked <- struct{}{}; <-answer }
		f.patience, f.claimTimeout = time.Hour, time.Hour
		var all sync.WaitGroup
		succeeds := func(user string) {
			f.sell("token-"+user, sub("gold_monthly", f.accountOf(user)))
			all.Go(func() {
				if o, err := f.Verify(t.Context(), user, "token-"+user, ""); err != nil || o.Result != ResultCreated {
					t.Errorf("%s: %s, %v", user, o.Result, err)
				}
			})
		}
		for i := range underWay {
			succeeds(fmt.Sprint("user-", i))
		}
		for range underWay {
			<-asked
		}

		f.patience = time.Nanosecond
		f.sell("late", sub("gold_monthly", f.accountOf("ana")))
		o, err := f.Verify(t.Context(), "ana", "late", "")
		if err != nil || o.Result != ResultQueued || !o.Pending || o.Membership.Status != string(entitle.Pending) {
			t.Errorf("%+v, %v", o, err)
		}
		results, _, err := f.Restore(t.Context(), "ana", []string{"late", "later"})
		if err != nil || len(results) != 2 || results[0].Outcome.Result != ResultQueued || results[1].Outcome.Result != ResultQueued {
			t.Errorf("%+v, %v", results, err)
		}
		if n := f.store.count("late") + f.store.count("later"); n != 0 {
			t.Errorf("the store was asked %d times", n)
		}

		f.patience = time.Hour
		succeeds("patient")
		close(answer)
		all.Wait()
		f.clock.Move(time.Minute)
		f.run(t)
		f.wantMembership(t, "ana", entitle.Active, gold, 2)
	})
}

func TestAVerificationIsQueuedWhileTheStoreHangs(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.claimTimeout = 50 * time.Millisecond
		f.sell("token", sub("gold_monthly", f.accountOf("ana")))
		f.store.hangs = true
		o, err := f.Verify(t.Context(), "ana", "token", "")
		if err != nil || o.Result != ResultQueued || !o.Pending || o.Purchase != nil {
			t.Errorf("%+v, %v", o, err)
		}
		f.store.hangs = false
		f.clock.Move(time.Minute)
		f.run(t)
		f.wantMembership(t, "ana", entitle.Active, gold, 2)
	})
}

// Many HTTP clients end a call after ten seconds.
func TestAnAcknowledgementEndsWithItsVerification(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.claimTimeout = acknowledgeTimeout - time.Second
		f.bought(t, "ana", "token", "gold_monthly")
		f.store.mu.Lock()
		defer f.store.mu.Unlock()
		if read, acknowledged := f.store.deadlines["token"], f.store.deadlines["acknowledge token"]; acknowledged.IsZero() || acknowledged.After(read) {
			t.Errorf("the acknowledgement may last until %s, the verification until %s", acknowledged, read)
		}
	})
}

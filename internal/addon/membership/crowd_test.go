package membership

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/must"
)

func TestVerificationsBeyondThoseThatWaitForTheStoreWaitAndAreThenQueued(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		const underWay = 4
		f.places.all = semaphore.NewWeighted(underWay)
		asked, answer := make(chan struct{}, 2*underWay), make(chan struct{})
		f.store.asked = func(string) { asked <- struct{}{}; <-answer }
		f.placeTimeout, f.claimTimeout = time.Hour, time.Hour
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

		f.placeTimeout = time.Nanosecond
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

		f.placeTimeout = time.Hour
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

// The simulated calls take as long as the limit of calls a second makes them take.
func TestBuyersBesideManyMadeUpTokensAreVerifiedTenSecondsAfterTheStoreReturns(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		const accounts, tokens, buyers, between = 30, maxWaiting + 1, 50, time.Second / 40
		f.claimTimeout, f.placeTimeout = time.Millisecond, time.Millisecond
		f.store.hangs = true
		var all sync.WaitGroup
		for i := range accounts {
			all.Go(func() {
				for n := range tokens {
					_, err := f.Verify(t.Context(), fmt.Sprint("made-up-", i), fmt.Sprintf("made-up-%d-%d", i, n), "")
					wantCode(t, err, map[bool]string{true: "rate_limited"}[n >= maxWaiting])
				}
			})
		}
		all.Wait()
		for i := range buyers {
			user := fmt.Sprint("buyer-", i)
			f.sell(user, sub("gold_monthly", f.accountOf(user)))
			f.wantQueued(t, user, user)
		}

		f.store.hangs = false
		f.clock.Move(onceTimeout) // whoever finds out has just begun to wait
		f.setDown(unavailable)
		f.run(t)
		f.setDown(nil)
		f.clock.Move(outageWait - probeWait) // all are due
		returned := f.clock.Now().Add(-onceTimeout)
		f.clock.Move(probeWait)
		f.store.asked = func(string) { f.clock.Move(between) }
		verified := 0
		for verified < buyers {
			if !f.step(t) {
				t.Fatal("nothing is left to do")
			}
			if acknowledged := f.store.acknowledgements(); acknowledged > verified {
				f.clock.Move(between)
				verified = acknowledged
			}
		}
		if took := f.clock.Now().Sub(returned); took > 10*time.Second {
			t.Errorf("the buyers had to wait for %s", took)
		}
	})
}

// Otherwise many of one user are due before those of others when the store returns.
func TestAVerificationThatWaitedForOthersOfItsUserIsRepeatedWhenTheStoreReturns(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for range maxUserUnderWay {
			f.places.take(t.Context(), "ana", time.Hour)
		}
		f.claimTimeout = time.Millisecond
		f.wantQueued(t, "ana", "token")
		if due := f.due(KindVerify, "1"); !due.Equal(noon.Add(outageWait)) {
			t.Errorf("repeated at %s", due)
		}
		if due := f.due(KindProbe, RepeatingKey); !due.Equal(noon.Add(probeWait)) {
			t.Errorf("the store is asked at %s", due)
		}
	})
}

// The store hangs, and a user has many queued verifications before a buyer has one.
func TestQueuedVerificationsAreRepeatedInTheOrderInWhichTheyAreDue(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.setDown(unavailable)
		for i := range maxWaiting {
			f.wantQueued(t, "made-up", fmt.Sprint("made-up-", i))
		}
		f.wantQueued(t, "ana", "token")
		f.setDown(nil)
		var put []jobs.Task
		old := f.Service.put
		f.Service.put = func(ctx context.Context, tx *addondb.DB, task jobs.Task) error {
			put = append(put, task)
			return old(ctx, tx, task)
		}
		must.Get(f.doProbe(t.Context(), nil))(t)
		if len(put) != maxWaiting+1 || !slices.IsSortedFunc(put, func(a, b jobs.Task) int { return a.Due.Compare(b.Due) }) || put[1].Due.After(f.now()) {
			t.Errorf("put %+v", put)
		}
	})
}

// step does the task that is due first, and reports whether there was one.
func (f *fixture) step(t *testing.T) bool {
	t.Helper()
	_, task, found := f.next(nil)
	if !found {
		return false
	}
	payload, err := json.Marshal(task.Payload)
	must.Do(t, err)
	task.Due, err = f.works()[task.Kind].do(t.Context(), payload)
	if err == nil && !task.Due.IsZero() {
		err = f.put(t.Context(), nil, task)
	}
	must.Do(t, err)
	return true
}

func TestARestoreReadsSomeTokensAtOnceAndEachOnce(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		var tokens []string
		for i := range maxRestore {
			tokens = append(tokens, fmt.Sprint("unknown-", i))
		}
		arrived, answer := make(chan struct{}, maxRestore), make(chan struct{})
		f.store.asked = func(token string) {
			if token != tokens[0] {
				arrived <- struct{}{}
				<-answer
			}
		}
		go func() {
			for range maxUserUnderWay {
				<-arrived
			}
			close(answer)
		}()
		f.placeTimeout, f.claimTimeout = time.Hour, time.Hour
		results, _, err := f.Restore(t.Context(), "ana", tokens)
		if err != nil || len(results) != maxRestore {
			t.Fatalf("%d results, %v", len(results), err)
		}
		for _, token := range tokens {
			if n := f.store.count(token); n != 1 {
				t.Errorf("%s was read %d times", token, n)
			}
		}
		if len(f.waits) > 0 {
			t.Errorf("waited for %v", f.waits)
		}
		for _, err := range []error{errorOf(f.Restore(t.Context(), "ana", []string{"another"})), results[maxRestore-1].Err} {
			if code := fault.Of(err); code == nil || code.Code != countersign.CodeRateLimited {
				t.Errorf("%v", err)
			}
		}
	})
}

// errorOf returns the error of the only token of a restore.
func errorOf(results []RestoredPurchase, _ countersign.IAPMembership, err error) error {
	if err != nil || len(results) != 1 {
		return err
	}
	return results[0].Err
}

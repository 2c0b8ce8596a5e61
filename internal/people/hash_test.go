package people

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/people/peopledb"
)

func TestHashesWaitInAQueueWithABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHashes(TestCost)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var work sync.WaitGroup
		fill := func(q queue) {
			for range int64(q) - h.queued.Load() {
				work.Go(func() {
					leave, err := h.enter(ctx, q)
					if err != nil {
						return // cancelled
					}
					<-ctx.Done()
					leave()
				})
				synctest.Wait()
			}
		}
		refused := func(what string, err error) {
			t.Helper()
			var apiErr *countersign.Error
			if !errors.As(err, &apiErr) || apiErr.Kind != countersign.KindLimited || apiErr.RetryAfter <= 0 {
				t.Errorf("%s: %v", what, err)
			}
		}
		fill(strangersQueue)
		_, err := h.matches(t.Context(), strangersQueue, h.nobodys(), password)
		refused("one stranger more", err)
		fill(wholeQueue)
		_, err = h.matches(t.Context(), wholeQueue, h.nobodys(), password)
		refused("one more who is known", err)
		_, err = h.make(t.Context(), wholeQueue, password)
		refused("a new password", err)

		cancel()
		work.Wait()
		expect.Equalf(t, h.queued.Load(), 0, "are left in the queue")
		if _, err := h.make(t.Context(), wholeQueue, password); err != nil {
			t.Errorf("when it is empty: %v", err)
		}
	})
}

func TestSignInThatFindsAFullQueueIsNotAFailure(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		u, _ := f.administrator(t)
		f.hashes.queued.Store(int64(strangersQueue))
		for range addressFailures + 1 {
			_, err := f.SignIn(t.Context(), home, email, password)
			if !errors.Is(err, errBusy) {
				t.Fatalf("a stranger: %v", err)
			}
		}
		if _, err := f.SignIn(t.Context(), f.known(u), email, password); err != nil {
			t.Errorf("a known browser: %v", err)
		}
		_, err := f.Join(t.Context(), home, "an invitation", "eve@site.example", other, nil)
		if !errors.Is(err, errBusy) {
			t.Errorf("a stranger with an invitation: %v", err)
		}
		f.hashes.queued.Store(0)
		if _, err := f.SignIn(t.Context(), home, email, password); err != nil {
			t.Errorf("later: %v", err)
		}
	})
}

// A stranger with an open invitation must not fill the queue that people sign in through.
func TestJoiningHashesNothingForAnEmailThatIsTaken(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		_, ada := f.administrator(t)
		join := func(from Origin, invitation, email string) error {
			_, err := f.Join(t.Context(), from, invitation, email, other, func(*peopledb.DB, User) error { return nil })
			return err
		}
		f.hashes.queued.Store(int64(strangersQueue))
		from := func(i int) Origin { return Origin{Addr: netip.AddrFrom4([4]byte{203, 0, 113, byte(i)})} }
		for i := range inviteFailures {
			wantCode(t, join(from(i), "first", email), "email_taken")
		}
		f.hashes.queued.Store(int64(wholeQueue))
		_, err := f.ChoosePassword(t.Context(), ada, 0, other)
		wantCode(t, err, "password_set")
		f.hashes.queued.Store(0)
		wantCode(t, join(home, "first", "bob@site.example"), "rate_limited")
		expect.NoErrorf(t, join(home, "second", "bob@site.example"), "another invitation")
		for i := range addressFailures {
			wantCode(t, join(away, fmt.Sprint(i), email), "email_taken")
		}
		wantCode(t, join(away, "third", "grace@site.example"), "rate_limited")
	})
}

package play_test

import (
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/play/playfake"
)

func TestAnAccessTokenIsSharedUntilItEnds(t *testing.T) {
	s := newStore(t)
	c := open(t, s)
	token := buy(t, s, playfake.BuyOptions{})
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() { _, _ = c.Subscription(t.Context(), token) })
	}
	wait.Wait()
	expect.Equalf(t, s.Calls("/token"), 1, "access tokens for 20 calls at once")
	s.Advance(59*time.Minute + time.Second)
	get(t, c, token)
	expect.Equalf(t, s.Calls("/token"), 2, "access tokens after an hour")
}

func TestARefusedAccessTokenIsReplaced(t *testing.T) {
	s := newStore(t)
	c := open(t, s)
	token := buy(t, s, playfake.BuyOptions{})
	get(t, c, token)
	s.Fail(1, 401, "authError")
	_, err := c.Subscription(t.Context(), token)
	wantReason(t, err, play.Unauthorized)
	get(t, c, token)
	expect.Equalf(t, s.Calls("/token"), 2, "access tokens")
}

func TestADeletedKeyOfTheServiceAccountIsRefused(t *testing.T) {
	s := newStore(t)
	c := open(t, s)
	token := buy(t, s, playfake.BuyOptions{})
	get(t, c, token)
	_, other := testKeys()
	must.Do(t, s.RotateAccountKey(other))
	get(t, c, token) // the access token lasts until its end
	s.Advance(time.Hour)
	_, err := c.Subscription(t.Context(), token)
	wantReason(t, err, play.Unauthorized)
	get(t, open(t, s), token)
}

func TestAClockThatIsWrongIsRefused(t *testing.T) {
	s := newStore(t)
	for _, offset := range []time.Duration{-2 * time.Hour, 2 * time.Hour} {
		o := optionsOf(t, s)
		o.Now = func() time.Time { return s.Now().Add(offset) }
		_, err := openWith(t, o).Subscription(t.Context(), buy(t, s, playfake.BuyOptions{}))
		wantReason(t, err, play.Unauthorized)
	}
}

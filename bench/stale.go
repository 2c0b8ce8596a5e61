package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/countersign/countersign/bench/program"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/sample"
)

// A try validates a code until the server has it in its cache (two responses of 200). Then
// the harness, which has opened the same database, refunds the purchase or revokes the
// key. When that has returned, the try validates the code again, once a millisecond or as
// fast as responses arrive, until the first refusal, and once more when the grace of one
// second is over. A 200 to a request that was sent after the grace is stale.

const (
	// staleTries is how many tries there are, each with a purchase of its own. Every tenth
	// revokes a key, the others refund the purchase.
	staleTries  = 10_000
	revokeEvery = 10
	// triesAtOnce is how many tries wait for their first refusal at a time.
	triesAtOnce = 16
	// grace is how long a response may ignore a change by another process.
	grace = time.Second
	// refusalLimit is how long a try waits for a refusal.
	refusalLimit = 10 * grace
)

// verdict is what a server says about a code.
type verdict int

const (
	refused     verdict = iota
	accepted            // 200
	unavailable         // 503: it can't reach its database
)

// try is one code that is accepted first and then withdrawn.
type try struct {
	validate func(context.Context) (verdict, error)
	withdraw func(context.Context) error
}

// sighting is what one try saw.
type sighting struct {
	refused time.Duration // to the first refusal; refusalLimit when there was none
	stale   int           // responses
	// unavailable are the responses of 503 since the change had returned: neither stale
	// nor a refusal.
	unavailable int
}

// observe makes one try. onRefusal is called when only the last request is left.
func (t try) observe(ctx context.Context, onRefusal func()) (sighting, error) {
	if err := t.awaitAccepted(ctx); err != nil {
		return sighting{}, err
	}
	if err := t.withdraw(ctx); err != nil {
		return sighting{}, err
	}
	returned := time.Now()
	seen := sighting{refused: refusalLimit}
	for pause := time.Millisecond; ctx.Err() == nil; program.Pause(ctx, pause) {
		asked := time.Since(returned)
		said, err := t.validate(ctx)
		if err != nil {
			return seen, err
		}
		switch {
		case said == unavailable:
			seen.unavailable++
		case said == accepted && asked >= grace:
			seen.stale++
		case said == refused && seen.refused == refusalLimit:
			seen.refused = time.Since(returned)
			pause = max(pause, grace-seen.refused)
			onRefusal()
		}
		if asked >= refusalLimit || (asked >= grace && said == refused) {
			break
		}
	}
	return seen, ctx.Err()
}

// awaitAccepted validates until two responses were 200: the server needs a moment to
// learn of a new key.
func (t try) awaitAccepted(ctx context.Context) error {
	began := time.Now()
	for times := 0; times < 2; {
		said, err := t.validate(ctx)
		switch {
		case err != nil:
			return err
		case said == accepted:
			times++
		case time.Since(began) >= refusalLimit:
			return errors.New("the code was not accepted twice before the change")
		default:
			program.Pause(ctx, time.Millisecond)
		}
	}
	return nil
}

// observeAll makes n tries, triesAtOnce of them before their first refusal.
func observeAll(ctx context.Context, n int, next func(ctx context.Context, i int) (try, error)) ([]sighting, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	slots := make(chan struct{}, triesAtOnce)
	seen := make([]sighting, n)
	var tries sync.WaitGroup
	for i := 0; i < n && ctx.Err() == nil; i++ {
		slots <- struct{}{}
		tries.Go(func() {
			leave := sync.OnceFunc(func() { <-slots })
			defer leave()
			t, err := next(ctx, i)
			if err == nil {
				seen[i], err = t.observe(ctx, leave)
			}
			if err != nil {
				stop(fmt.Errorf("try %d: %w", i, err))
			}
		})
	}
	tries.Wait()
	return seen, context.Cause(ctx)
}

// countStale makes all tries on the shop's engine.
func (s *shop) countStale(ctx context.Context) (staleness, error) {
	server, err := s.serve(ctx)
	if err != nil {
		return staleness{}, err
	}
	defer server.stop()
	other, err := store.Open(ctx, store.Options{Options: instance.Options{Dir: s.data, URL: s.settings.database}})
	if err != nil {
		return staleness{}, err
	}
	defer other.Close() //nolint:errcheck // a change is written when it returns
	if err := other.Prepare(ctx); err != nil {
		return staleness{}, err
	}
	seen, err := measure(func() ([]sighting, error) { return observeAll(ctx, s.settings.purchases, tries(server.address, other)) })
	return stalenessOf(s.settings.engine(), seen), err
}

// tries makes try number i with purchase number i.
func tries(address string, other *store.Store) func(context.Context, int) (try, error) {
	harness := people.Operator("bench")
	began := time.Now().Unix() // names of keys are unique, also in later runs
	client := &http.Client{Timeout: refusalLimit, Transport: &http.Transport{MaxIdleConnsPerHost: connections}}
	return func(ctx context.Context, i int) (try, error) {
		code, key, refusal := sample.BigCode(i), sample.BigKey(), http.StatusNotFound
		withdraw := func(ctx context.Context) error {
			_, err := other.EndPurchase(ctx, harness, code, store.StateRefunded)
			return err
		}
		var failed error
		if i%revokeEvery == 0 {
			made, value, err := other.CreateKey(ctx, harness, store.NewKey{Workspace: sample.BigWorkspace, Name: fmt.Sprintf("stale %d %d", began, i), Class: store.ClassSecret})
			key, refusal, failed = value, http.StatusUnauthorized, err
			withdraw = func(ctx context.Context) error { _, err := other.RevokeKey(ctx, harness, made.ID); return err }
		}
		return try{func(context.Context) (verdict, error) { return validate(client, address, key, code, refusal) }, withdraw}, failed
	}
}

// validate sends one request. Any status but 200, 503 and the refusal is an error.
func validate(client *http.Client, address, key, code string, refusal int) (verdict, error) {
	answer, err := client.PostForm(address+"/api/purchases/validation", url.Values{"api_key": {key}, "purchase_code": {code}})
	if err != nil {
		return refused, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		return refused, err
	case answer.StatusCode == http.StatusOK:
		return accepted, nil
	case answer.StatusCode == refusal:
		return refused, nil
	case answer.StatusCode == http.StatusServiceUnavailable:
		return unavailable, nil
	}
	return refused, fmt.Errorf("status %d: %.200s", answer.StatusCode, body)
}

// staleness sums up all tries on an engine.
type staleness struct {
	Engine string `json:"engine"`
	Tries  int    `json:"tries"`
	// Revocations are the tries that revoked a key; the others refunded a purchase.
	Revocations int `json:"revocations"`
	Stale       int `json:"stale_answers"`
	// Unavailable are responses of 503 after a change.
	Unavailable int `json:"unavailable_answers"`
	// The times from the return of the change to the first refusal.
	Median  time.Duration `json:"median_ns"`
	P99     time.Duration `json:"p99_ns"`
	Longest time.Duration `json:"longest_ns"`
	// Stolen is the share of the processors' time, 0 to 1, that other machines took.
	Stolen float64 `json:"stolen"`
}

func stalenessOf(engine string, seen measured[[]sighting]) staleness {
	s := staleness{Engine: engine, Tries: len(seen.Value), Revocations: (len(seen.Value) + revokeEvery - 1) / revokeEvery, Stolen: seen.Stolen}
	var times []time.Duration
	for _, one := range seen.Value {
		s.Stale += one.stale
		s.Unavailable += one.unavailable
		times = append(times, one.refused)
	}
	slices.Sort(times)
	s.Median, s.P99, s.Longest = quantile(times, median), quantile(times, 0.99), quantile(times, 1)
	return s
}

func (s staleness) print(out io.Writer) {
	fmt.Fprintf(out, "\n%s, changes by another process: %d tries, %d of them revoked keys; stale responses after %s: %d (at most 0)%s; responses of 503: %d%s; "+
		"first refusal after %.1f ms (median), %.1f ms (p99), %.1f ms (longest); stolen %.0f %%\n",
		s.Engine, s.Tries, s.Revocations, grace, s.Stale, flagged(s.Stale), s.Unavailable, flagged(s.Unavailable), milliseconds(s.Median), milliseconds(s.P99), milliseconds(s.Longest), 100*s.Stolen)
}

// missed is nil: stale responses are marked.
func (s staleness) missed() error { return nil }

// flagged marks a count that has to be 0.
func flagged(n int) string {
	if n > 0 {
		return " !"
	}
	return ""
}

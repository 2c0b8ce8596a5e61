package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"runtime/debug"
	"time"
)

const (
	silentPurchases = 10_000
	silentTurn      = 5 * time.Second
	// leastKept is the share of their rate that valid requests keep beside the crowd.
	leastKept = 0.90
	// newcomerEvery is how often a new connection sends one valid request meanwhile.
	newcomerEvery = 50 * time.Millisecond
)

// besideCrowd is what valid requests came to beside the crowd and without it.
type besideCrowd struct {
	Engine string `json:"engine"`
	// Kept is the median of the rates beside the crowd to those without it.
	Kept float64 `json:"kept"`
	// KeptOfTime is the median of the processor time for each valid request without the crowd to that beside it, the
	// store's, the harness's and the crowd's. It is what is kept when all processors are busy and belong to them.
	KeptOfTime float64      `json:"kept_of_processor_time"`
	Pairs      []silentPair `json:"pairs"`
	LeftOut    []silentPair `json:"left_out,omitempty"`
}

// silentPair is one turn beside the crowd and one without it, in turn the first.
type silentPair struct {
	Kept       float64  `json:"kept"`
	KeptOfTime float64  `json:"kept_of_processor_time"`
	Beside     validRun `json:"beside"`
	Without    validRun `json:"without"`
	Opened     int64    `json:"silent_opened"`
	Closed     int64    `json:"silent_closed_by_server"`
	Newcomers  int      `json:"newcomers"`
	// Longest is the time of the slowest newcomer, from its connection to its answer.
	Longest time.Duration `json:"longest_newcomer_ns"`
	Stolen  float64       `json:"stolen"`
}

// validRun is what valid requests came to in one turn.
type validRun struct {
	PerSecond float64 `json:"requests_per_second"`
	// CPU is the processor time of store and harness for each request.
	CPU time.Duration `json:"cpu_per_request_ns"`
}

func (p silentPair) stolenShare() float64 { return p.Stolen }

// besideSilent measures the rate of valid requests beside the crowd and without it, in paired turns.
func (s *shop) besideSilent(ctx context.Context, log io.Writer) (besideCrowd, error) {
	if err := enoughDescriptors(); err != nil {
		return besideCrowd{}, err
	}
	// The crowd's stacks would be read through with each collection, at the price of the requests.
	defer debug.SetGCPercent(debug.SetGCPercent(2000))
	store, err := s.serve(ctx)
	if err != nil {
		return besideCrowd{}, err
	}
	defer store.stop()
	if err := waitReady(ctx, store.address); err != nil {
		return besideCrowd{}, err
	}
	if _, err := s.silentTurn(ctx, store); err != nil { // one that does not count
		return besideCrowd{}, err
	}
	taken := repeats[silentPair]{want: s.settings.rounds, most: 2 * s.settings.rounds}
	for taken.more() {
		one, err := s.silentPair(ctx, store, len(taken.all)%2 == 0)
		if err != nil {
			return besideCrowd{}, err
		}
		fmt.Fprintf(log, "beside %.0f/s (%s of processor time each), without %.0f/s (%s): %.3f (%.3f); %d silent ones opened, %d closed by the store; %d newcomers, at most %s; stolen %.0f %%\n",
			one.Beside.PerSecond, one.Beside.CPU.Round(100*time.Nanosecond), one.Without.PerSecond, one.Without.CPU.Round(100*time.Nanosecond), one.Kept, one.KeptOfTime, one.Opened, one.Closed, one.Newcomers, one.Longest.Round(time.Millisecond), 100*one.Stolen)
		taken.all = append(taken.all, one)
	}
	counted, leftOut := taken.calmest()
	return besideCrowd{
		Engine: s.settings.engine(), Pairs: counted, LeftOut: leftOut,
		Kept:       middle(counted, func(p silentPair) float64 { return p.Kept }),
		KeptOfTime: middle(counted, func(p silentPair) float64 { return p.KeptOfTime }),
	}, nil
}

// silentPair takes one pair of turns.
func (s *shop) silentPair(ctx context.Context, store *process, crowdFirst bool) (p silentPair, err error) {
	before, err := readMachineTime()
	if err != nil {
		return p, err
	}
	without := func() error {
		p.Without, err = s.silentTurn(ctx, store)
		return err
	}
	if crowdFirst {
		err = errors.Join(s.crowdTurn(ctx, store, &p), without())
	} else {
		err = errors.Join(without(), s.crowdTurn(ctx, store, &p))
	}
	if err != nil {
		return p, err
	}
	after, err := readMachineTime()
	p.Stolen, p.Kept = after.stolenSince(before), p.Beside.PerSecond/p.Without.PerSecond
	p.KeptOfTime = float64(p.Without.CPU) / float64(p.Beside.CPU)
	return p, err
}

// crowdTurn is a turn beside the crowd.
func (s *shop) crowdTurn(ctx context.Context, store *process, p *silentPair) error {
	u, err := url.Parse(store.address)
	if err != nil {
		return err
	}
	crowd, err := gather(ctx, u.Host, hostileKinds(valid(0)))
	if err != nil {
		return err
	}
	defer crowd.disperse()
	if _, err := ask(ctx, u.Host, once(valid(0)), true); err != nil { // behind all of them in the queue
		return err
	}
	visits := newcomers(ctx, u.Host, s.settings.turn)
	p.Beside, err = s.silentTurn(ctx, store)
	came := <-visits
	p.Opened, p.Closed, p.Newcomers, p.Longest = crowd.opened.Load(), crowd.closed.Load(), came.answered, came.longest
	return errors.Join(err, came.err)
}

// silentTurn is one turn of valid requests.
func (s *shop) silentTurn(ctx context.Context, store *process) (validRun, error) {
	before, err := usageOf(os.Getpid())
	if err != nil {
		return validRun{}, err
	}
	next := func(r *rand.Rand) (request, bool) { return valid(r.IntN(silentPurchases)), true }
	l, err := generate(ctx, store.address, s.settings.connections, s.settings.turn, next, true)
	after, noUsage := usageOf(os.Getpid())
	run := validRun{PerSecond: float64(l.requests) / l.elapsed.Seconds(), CPU: (after.cpu - before.cpu) / time.Duration(max(1, l.requests))}
	return run, errors.Join(err, noUsage)
}

// visited is what newcomers saw.
type visited struct {
	answered int
	longest  time.Duration
	err      error
}

// newcomers opens a connection of its own for one valid request, again and again for a turn.
func newcomers(ctx context.Context, host string, turn time.Duration) <-chan visited {
	seen := make(chan visited, 1)
	go func() {
		var v visited
		tick := time.NewTicker(newcomerEvery)
		defer tick.Stop()
		for end := time.Now().Add(turn); v.err == nil && time.Now().Before(end); <-tick.C {
			began := time.Now()
			_, v.err = ask(ctx, host, once(valid(1)), true)
			v.answered++
			v.longest = max(v.longest, time.Since(began))
		}
		seen <- v
	}()
	return seen
}

// once is one request and no other.
func once(r request) func(*rand.Rand) (request, bool) {
	asked := false
	return func(*rand.Rand) (request, bool) {
		more := !asked
		asked = true
		return r, more
	}
}

// printSilent prints what was seen. Its error says that less was kept than is promised.
func printSilent(out io.Writer, b besideCrowd) error {
	fmt.Fprintf(out, "\n%s, valid requests beside %d silent and slow connections from %d addresses (closed ones opened again, %d a second): they keep %.3f of their rate without them (at least %.2f), %.3f by processor time, medians of %d pairs of turns\n",
		b.Engine, hostileConnections, hostileAddresses, hostilePace, b.Kept, leastKept, b.KeptOfTime, len(b.Pairs))
	if b.Kept < leastKept {
		return fmt.Errorf("valid requests keep %.3f of their rate beside silent connections; %.2f are promised", b.Kept, leastKept)
	}
	return nil
}

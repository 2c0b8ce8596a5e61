package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"
)

// figures are the medians of a server's turns.
type figures struct {
	PerSecond float64       `json:"requests_per_second"`
	P50       time.Duration `json:"p50_ns"`
	P99       time.Duration `json:"p99_ns"`
	// CPU is processor time per request.
	CPU       time.Duration `json:"cpu_per_request_ns"`
	Anonymous int64         `json:"rss_anon_bytes"`
	// Body is the mean size of an answer's body, in bytes.
	Body int64 `json:"body_bytes"`
}

// comparison is one case, the store against the floor or against a peer.
type comparison struct {
	Name  string  `json:"name"`
	Store figures `json:"store"`
	Other figures `json:"other"`
	// Ratio is the median over pairs of turns of the store's processor time
	// per request to the other's.
	Ratio float64 `json:"ratio"`
	bounded
	Pairs []pair `json:"pairs"`
	// Log is the largest size of SQLite's write-ahead log, in bytes.
	Log int64 `json:"wal_bytes,omitempty"`
}

// pair is what one turn of each server came to.
type pair struct {
	Ratio float64 `json:"ratio"`
	// Stolen is the share of the processors' time, 0 to 1, that other machines on the
	// same host took meanwhile.
	Stolen float64 `json:"stolen"`
}

// stolen is the mean over the pairs: disturbed turns are not to hide behind a median.
func (c comparison) stolen() float64 {
	sum := 0.0
	for _, p := range c.Pairs {
		sum += p.Stolen
	}
	return sum / float64(len(c.Pairs))
}

// compare measures one case: store and other in turn, after one turn each that
// does not count.
func (s *shop) compare(ctx context.Context, c benchCase) (comparison, error) {
	store, err := s.server(ctx, c)
	if err != nil {
		return comparison{}, err
	}
	defer store.stop()
	if err := waitReady(ctx, store.address); err != nil {
		return comparison{}, err
	}
	other, checked, err := s.other(ctx, store, &c)
	if err != nil {
		return comparison{}, err
	}
	defer other.stop()
	if err := warm(ctx, store.address, c); err != nil {
		return comparison{}, err
	}
	log := s.watchLog()
	defer log.stop()
	compared, err := s.rounds(ctx, c, store, other, checked)
	compared.Log = log.stop()
	return compared, err
}

// rounds takes the turns of a case.
func (s *shop) rounds(ctx context.Context, c benchCase, store, other *process, checked bool) (comparison, error) {
	rounds, length := s.settings.rounds, s.settings.turn
	if c.turn > 0 {
		rounds = 1
	}
	var stores, others []figures
	var pairs []pair
	for round := range rounds + 1 {
		if round > 0 && c.turn > 0 {
			length = c.turn
		}
		a, b, p, err := s.pair(ctx, c, store, other, checked, length)
		if err != nil {
			return comparison{}, err
		}
		if round > 0 {
			stores, others, pairs = append(stores, a), append(others, b), append(pairs, p)
		}
	}
	return comparison{
		Name: c.name, Store: median(stores), Other: median(others), Pairs: pairs,
		Ratio: middle(pairs, func(p pair) float64 { return p.Ratio }),
	}, nil
}

// pair takes one turn of the store and one of the other.
func (s *shop) pair(ctx context.Context, c benchCase, store, other *process, checked bool, length time.Duration) (a, b figures, p pair, err error) {
	before, err := readMachineTime()
	if err != nil {
		return a, b, p, err
	}
	if a, err = s.turn(ctx, store, c, length, true); err != nil {
		return a, b, p, err
	}
	if b, err = s.turn(ctx, other, c, length, checked); err != nil {
		return a, b, p, err
	}
	after, err := readMachineTime()
	if err == nil && c.file && a.Body != b.Body {
		err = fmt.Errorf("the store's answers have %d bytes, those of the floor %d", a.Body, b.Body)
	}
	return a, b, pair{float64(a.CPU) / float64(b.CPU), after.stolenSince(before)}, err
}

// server starts what a case measures.
func (s *shop) server(ctx context.Context, c benchCase) (*process, error) {
	if c.addon {
		return s.serveAddon(ctx)
	}
	return s.serve(ctx, c.serve...)
}

// other is what the store is measured against: the peer whose answers are
// checked like the store's, or the floor, which says one thing to everything.
func (s *shop) other(ctx context.Context, store *process, c *benchCase) (other *process, checked bool, err error) {
	if s.settings.peer != "" {
		other, err = s.peer(ctx)
		return other, true, err
	}
	answer, err := s.firstAnswer(store.address, c)
	if err != nil {
		return nil, false, err
	}
	other, err = s.floor(ctx, answer)
	return other, false, err
}

// warm asks what is to be in memory, once.
func warm(ctx context.Context, address string, c benchCase) error {
	var next atomic.Int64
	_, err := generate(ctx, address, 8, time.Minute, func(*rand.Rand) (request, bool) {
		i := int(next.Add(1)) - 1
		if i >= c.warm {
			return request{}, false
		}
		return c.warmBy(i), true
	}, true)
	return err
}

// firstAnswer asks the store the case's first request: what the floor will say.
func (s *shop) firstAnswer(address string, c *benchCase) (floorAnswer, error) {
	q := c.next(rand.New(rand.NewPCG(1, 1)))
	if c.revalidate {
		first, err := roundTrip(address, q)
		if err != nil {
			return floorAnswer{}, err
		}
		defer first.Body.Close()
		q = withETag(q, first.Header.Get("ETag"))
		c.next = func(*rand.Rand) request { return q }
	}
	a, err := answerOf(address, q)
	if err == nil && a.Status != q.status {
		err = fmt.Errorf("status %d, want %d: %.200s", a.Status, q.status, a.Body)
	}
	if err == nil && c.file {
		err = s.fileOf(&a)
	}
	return a, err
}

// fileOf moves an answer's bytes into a file, from which the floor serves them.
func (s *shop) fileOf(a *floorAnswer) (err error) {
	if coding := a.Header.Get("Content-Encoding"); coding != "" {
		return fmt.Errorf("the store answers in %s, and the floor would not", coding)
	}
	if a.File, err = filepath.Abs(filepath.Join(s.settings.out, "answer.json")); err != nil {
		return err
	}
	err = os.WriteFile(a.File, a.Body, 0o644)
	a.Body = nil
	return err
}

func (s *shop) turn(ctx context.Context, p *process, c benchCase, length time.Duration, check bool) (figures, error) {
	before, err := p.usage()
	if err != nil {
		return figures{}, err
	}
	l, err := generate(ctx, p.address, s.settings.connections, length, func(r *rand.Rand) (request, bool) { return c.next(r), true }, check)
	if err != nil {
		return figures{}, err
	}
	after, err := p.usage()
	if err != nil {
		return figures{}, err
	}
	requests := max(1, l.requests)
	return figures{
		PerSecond: float64(l.requests) / l.elapsed.Seconds(), P50: l.percentile(0.5), P99: l.percentile(0.99),
		CPU: (after.cpu - before.cpu) / time.Duration(requests), Anonymous: after.anonymous, Body: int64(l.bodyBytes / requests),
	}, nil
}

// median takes each figure's median by itself.
func median(all []figures) figures {
	return figures{
		PerSecond: middle(all, func(f figures) float64 { return f.PerSecond }),
		P50:       time.Duration(middle(all, func(f figures) float64 { return float64(f.P50) })),
		P99:       time.Duration(middle(all, func(f figures) float64 { return float64(f.P99) })),
		CPU:       time.Duration(middle(all, func(f figures) float64 { return float64(f.CPU) })),
		Anonymous: int64(middle(all, func(f figures) float64 { return float64(f.Anonymous) })),
		Body:      int64(middle(all, func(f figures) float64 { return float64(f.Body) })),
	}
}

// middle is the median of one number of each, of two in the middle the larger.
func middle[T any](all []T, of func(T) float64) float64 {
	values := make([]float64, len(all))
	for i, one := range all {
		values[i] = of(one)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

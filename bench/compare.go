package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/bench/program"
)

// comparison is one case, the store against the floor, a peer or a baseline.
type comparison struct {
	Name  string  `json:"name"`
	Store figures `json:"store"`
	Other figures `json:"other"`
	// Ratio is the median over pairs of turns of the store's processor time
	// per request to the other's.
	Ratio float64 `json:"ratio"`
	bounded
	// LowerQuartile is that of the same ratios. Against a baseline the bound is for it.
	LowerQuartile float64 `json:"lower_quartile"`
	// Pairs are the pairs of turns that count, LeftOut those that neighbours disturbed.
	Pairs   []pair `json:"pairs"`
	LeftOut []pair `json:"left_out,omitempty"`
	// Log is the largest size of SQLite's write-ahead log, in bytes.
	Log int64 `json:"wal_bytes,omitempty"`
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
	taken, length := pairs{want: s.settings.rounds, most: 2 * s.settings.rounds}, s.settings.turn
	if _, err := s.pair(ctx, c, store, other, checked, length); err != nil {
		return comparison{}, err
	}
	if c.turn > 0 {
		taken, length = pairs{want: 1, most: 1}, c.turn
	}
	for taken.more() {
		p, err := s.pair(ctx, c, store, other, checked, length)
		if err != nil {
			return comparison{}, err
		}
		taken.all = append(taken.all, p)
	}
	counted, leftOut := taken.calmest()
	return comparison{
		Name: c.name, Pairs: counted, LeftOut: leftOut,
		Store:         median(counted, func(p pair) figures { return p.store }),
		Other:         median(counted, func(p pair) figures { return p.other }),
		Ratio:         middle(counted, func(p pair) float64 { return p.Ratio }),
		LowerQuartile: lowerQuartile(counted),
	}, nil
}

// pair takes one turn of the store and one of the other.
func (s *shop) pair(ctx context.Context, c benchCase, store, other *process, checked bool, length time.Duration) (pair, error) {
	before, err := readMachineTime()
	if err != nil {
		return pair{}, err
	}
	a, err := s.turn(ctx, store, c, length, true)
	if err != nil {
		return pair{}, err
	}
	b, err := s.turn(ctx, other, c, length, checked)
	if err != nil {
		return pair{}, err
	}
	after, err := readMachineTime()
	if err == nil && c.file && a.Body != b.Body {
		err = fmt.Errorf("the store's answers have %d bytes, those of the floor %d", a.Body, b.Body)
	}
	return pair{Ratio: float64(a.CPU) / float64(b.CPU), Stolen: after.stolenSince(before), store: a, other: b}, err
}

// server starts what a case measures.
func (s *shop) server(ctx context.Context, c benchCase) (*process, error) {
	if c.addon {
		return s.serveAddon(ctx)
	}
	return s.serve(ctx, c.serve...)
}

// other is what the store is measured against: the baseline or the peer, whose answers
// are checked like the store's, or the floor, which says one thing to everything.
func (s *shop) other(ctx context.Context, store *process, c *benchCase) (other *process, checked bool, err error) {
	if s.baseline != nil {
		other, err = s.serveBaseline(ctx, *c)
		return other, true, err
	}
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
	used := max(program.ClockTick, after.cpu-before.cpu) // less can't be told, and none would make a ratio infinite
	return figures{
		PerSecond: float64(l.requests) / l.elapsed.Seconds(), P50: l.percentile(0.5), P99: l.percentile(0.99),
		CPU: used / time.Duration(requests), Anonymous: after.anonymous, Body: int64(l.bodyBytes / requests),
	}, nil
}

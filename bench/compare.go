package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"text/tabwriter"
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
}

// comparison is one case, the store against the floor or against a peer.
type comparison struct {
	Name  string  `json:"name"`
	Store figures `json:"store"`
	Other figures `json:"other"`
	// Ratio is the median over pairs of turns of the store's processor time
	// per request to the other's.
	Ratio float64 `json:"ratio"`
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
	var stores, others []figures
	var ratios []float64
	for round := range s.settings.rounds + 1 {
		a, err := s.turn(ctx, store, c, true)
		if err != nil {
			return comparison{}, err
		}
		b, err := s.turn(ctx, other, c, checked)
		if err != nil {
			return comparison{}, err
		}
		if round > 0 {
			stores, others = append(stores, a), append(others, b)
			ratios = append(ratios, float64(a.CPU)/float64(b.CPU))
		}
	}
	slices.Sort(ratios)
	return comparison{Name: c.name, Store: median(stores), Other: median(others), Ratio: ratios[len(ratios)/2], Log: log.stop()}, nil
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
		a.File, err = filepath.Abs(filepath.Join(s.settings.out, "answer.json"))
		if err == nil {
			err = os.WriteFile(a.File, a.Body, 0o644)
		}
		a.Body = nil
	}
	return a, err
}

func (s *shop) turn(ctx context.Context, p *process, c benchCase, check bool) (figures, error) {
	before, err := p.cpu()
	if err != nil {
		return figures{}, err
	}
	l, err := generate(ctx, p.address, s.settings.connections, s.settings.turn, func(r *rand.Rand) (request, bool) { return c.next(r), true }, check)
	if err != nil {
		return figures{}, err
	}
	after, err := p.cpu()
	if err != nil {
		return figures{}, err
	}
	return figures{
		PerSecond: float64(l.requests) / l.elapsed.Seconds(), P50: l.percentile(0.5), P99: l.percentile(0.99),
		CPU: (after - before) / time.Duration(max(1, l.requests)), Anonymous: p.anonymous(),
	}, nil
}

// median takes each figure's median by itself.
func median(all []figures) figures {
	middle := func(of func(figures) float64) float64 {
		values := make([]float64, len(all))
		for i, f := range all {
			values[i] = of(f)
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	return figures{
		PerSecond: middle(func(f figures) float64 { return f.PerSecond }),
		P50:       time.Duration(middle(func(f figures) float64 { return float64(f.P50) })),
		P99:       time.Duration(middle(func(f figures) float64 { return float64(f.P99) })),
		CPU:       time.Duration(middle(func(f figures) float64 { return float64(f.CPU) })),
		Anonymous: int64(middle(func(f figures) float64 { return float64(f.Anonymous) })),
	}
}

func printTable(out io.Writer, r result) {
	fmt.Fprintf(out, "\n%s, %d purchases, %s, against %s\n\n", r.Engine, r.Purchases, r.Machine, r.Against)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "case\tCPU µs\tother µs\tratio\treq/s\tother req/s\tp50 ms\tp99 ms\tRssAnon MB\tWAL MB\t")
	for _, c := range r.Cases {
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.2f\t%.0f\t%.0f\t%.2f\t%.2f\t%d\t%d\t\n", c.Name,
			float64(c.Store.CPU.Nanoseconds())/1000, float64(c.Other.CPU.Nanoseconds())/1000, c.Ratio,
			c.Store.PerSecond, c.Other.PerSecond, c.Store.P50.Seconds()*1000, c.Store.P99.Seconds()*1000, c.Store.Anonymous>>20, c.Log>>20)
	}
	_ = w.Flush()
	fmt.Fprintf(out, "\nfrom the start of the process to the first right answer: %s\n", r.Start.Round(time.Millisecond))
}

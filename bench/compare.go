package main

import (
	"context"
	"errors"
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
	// Pairs are the pairs of turns that count, LeftOut those that other machines disturbed.
	Pairs   []measured[pair] `json:"pairs"`
	LeftOut []measured[pair] `json:"left_out,omitempty"`
	// Log is the largest size of SQLite's write-ahead log, in bytes.
	Log int64 `json:"wal_bytes,omitempty"`
}

// pair is one turn of each server.
type pair struct {
	Ratio float64 `json:"ratio"`

	store, other figures
}

// figures are those of a turn, or the medians of several.
type figures struct {
	PerSecond float64       `json:"requests_per_second"`
	P50       time.Duration `json:"p50_ns"`
	P99       time.Duration `json:"p99_ns"`
	// CPU is processor time per request.
	CPU       time.Duration `json:"cpu_per_request_ns"`
	Anonymous int64         `json:"rss_anon_bytes"`
	// Body is the mean size of a response's body, in bytes.
	Body int64 `json:"body_bytes"`
}

// medians takes the median of each figure by itself.
func medians(all []measured[pair], of func(pair) figures) figures {
	return figures{
		PerSecond: quantileOf(all, median, func(p pair) float64 { return of(p).PerSecond }),
		P50:       quantileOf(all, median, func(p pair) time.Duration { return of(p).P50 }),
		P99:       quantileOf(all, median, func(p pair) time.Duration { return of(p).P99 }),
		CPU:       quantileOf(all, median, func(p pair) time.Duration { return of(p).CPU }),
		Anonymous: quantileOf(all, median, func(p pair) int64 { return of(p).Anonymous }),
		Body:      quantileOf(all, median, func(p pair) int64 { return of(p).Body }),
	}
}

// compare measures one case: store and other in turn, after one turn each that
// does not count.
func (s *shop) compare(ctx context.Context, c benchCase) (comparison, error) {
	serve := s.serve
	if c.addon {
		serve = s.serveAddon
	}
	store, err := serve(ctx, c.serve...)
	if err != nil {
		return comparison{}, err
	}
	defer store.stop()
	if c.begin != nil {
		if c.next, err = c.begin(ctx, s, store.address); err != nil {
			return comparison{}, err
		}
	}
	other, err := s.other(ctx, store, &c)
	if err != nil {
		return comparison{}, err
	}
	defer other.stop()
	if err := warm(ctx, store.address, c); err != nil {
		return comparison{}, err
	}
	largestLog := s.watchLog(ctx)
	compared, err := s.rounds(ctx, c, store, other)
	compared.Log = largestLog()
	return compared, err
}

// rounds takes the turns of a case.
func (s *shop) rounds(ctx context.Context, c benchCase, store, other *process) (comparison, error) {
	if _, err := s.pair(ctx, c, store, other, s.settings.turn); err != nil {
		return comparison{}, err
	}
	n, length := s.settings.rounds, s.settings.turn
	if c.turn > 0 {
		n, length = 1, c.turn
	}
	counted, leftOut, err := repeat(n, func(int) (pair, error) { return s.pair(ctx, c, store, other, length) })
	ratio := func(p pair) float64 { return p.Ratio }
	return comparison{
		Name: c.name, Pairs: counted, LeftOut: leftOut,
		Store:         medians(counted, func(p pair) figures { return p.store }),
		Other:         medians(counted, func(p pair) figures { return p.other }),
		Ratio:         quantileOf(counted, median, ratio),
		LowerQuartile: quantileOf(counted, 0.25, ratio),
	}, err
}

// pair takes one turn of the store and one of the other. The floor's responses are not
// checked: it writes the same one to everything.
func (s *shop) pair(ctx context.Context, c benchCase, store, other *process, length time.Duration) (pair, error) {
	next := func(r *rand.Rand) (request, bool) { return c.next(r), true }
	settle := time.Duration(0)
	if s.settings.mode == modeLog {
		settle = logSettle
	}
	a, err := turn(ctx, store.address, s.usageWith(store), length, settle, next, true)
	if err != nil {
		return pair{}, err
	}
	b, err := turn(ctx, other.address, s.usageWith(other), length, settle, next, s.baseline != nil || s.settings.other != "")
	if err == nil && c.file && a.Body != b.Body {
		err = fmt.Errorf("the store's responses have %d bytes, those of the floor %d", a.Body, b.Body)
	}
	return pair{Ratio: float64(a.CPU) / float64(max(1, b.CPU)), store: a, other: b}, err
}

// usageWith measures a server, and for the log of API requests also the processor time of the
// harness's own PostgreSQL, which writes it.
func (s *shop) usageWith(server *process) func() (usage, error) {
	return func() (usage, error) {
		used, err := usageOf(server.command.Process.Pid)
		if err != nil || s.settings.mode != modeLog || s.settings.databaseProcess == 0 {
			return used, err
		}
		database, err := usageOf(s.settings.databaseProcess)
		used.cpu += database.cpu
		return used, err
	}
}

// turn sends requests to a server for a while. used measures it, before the first request and
// some time after the last response.
func turn(ctx context.Context, address string, used func() (usage, error), length, settle time.Duration, next func(*rand.Rand) (request, bool), check bool) (figures, error) {
	before, err := used()
	if err != nil {
		return figures{}, err
	}
	l, err := generate(ctx, address, connections, length, next, check)
	if err != nil {
		return figures{}, err
	}
	program.Pause(ctx, settle)
	after, err := used()
	if err != nil {
		return figures{}, err
	}
	requests := max(1, l.requests)
	cpu := max(clockTick, after.cpu-before.cpu) // zero would make a ratio infinite
	return figures{
		PerSecond: float64(l.requests) / l.elapsed.Seconds(), P50: quantile(l.latencies, median), P99: quantile(l.latencies, 0.99),
		CPU: cpu / time.Duration(requests), Anonymous: after.anonymous, Body: int64(l.bodyBytes / requests),
	}, nil
}

// other starts what the store is measured against: the baseline, the peer or the floor.
func (s *shop) other(ctx context.Context, store *process, c *benchCase) (*process, error) {
	switch s.settings.mode {
	case modeBaseline, modeLog:
		return s.serveBaseline(ctx, *c)
	case modePeer:
		return s.peer(ctx)
	}
	answer, err := s.firstAnswer(store.address, c)
	if err != nil {
		return nil, err
	}
	return s.floor(ctx, answer)
}

// warm sends the requests that come before anything counts.
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

// firstAnswer sends the case's first request to the store. The floor will repeat the response.
func (s *shop) firstAnswer(address string, c *benchCase) (floorAnswer, error) {
	q := c.next(rand.New(rand.NewPCG(1, 1)))
	a, err := answerOf(address, q)
	if err == nil && c.revalidate {
		q = withETag(q, a.Header.Get("ETag"))
		c.next = always(q)
		a, err = answerOf(address, q)
	}
	if err == nil && c.file {
		err = s.fileOf(&a)
	}
	return a, err
}

// fileOf moves a response's bytes into a file, from which the floor serves them.
func (s *shop) fileOf(a *floorAnswer) (err error) {
	if coding := a.Header.Get("Content-Encoding"); coding != "" {
		return fmt.Errorf("the store's response is encoded in %s, and the floor's would not be", coding)
	}
	if a.File, err = filepath.Abs(filepath.Join(s.settings.out, "answer.json")); err != nil {
		return err
	}
	err = os.WriteFile(a.File, a.Body, 0o644)
	a.Body = nil
	return err
}

// baselineCases are the cases that are measured against another binary of the store.
var baselineCases = []string{caseWarm, caseCold, caseInvalid, caseBadKeys, caseMixed}

// baselineRounds is how many pairs of turns a case has by default: the lower
// quartile of few pairs says little.
const baselineRounds = 31

// useBaseline fills a store with the baseline's binary, and copies it for the binary
// under test, which migrates its copy. Both begin with the same bytes, and the older
// binary keeps the schema that it knows.
func (s *shop) useBaseline(ctx context.Context) error {
	dir := filepath.Join(s.settings.out, "baseline")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	old := &shop{settings: s.settings, binary: s.settings.other, data: filepath.Join(dir, "old")}
	old.settings.out = dir // its server's log
	if err := old.fill(ctx); err != nil {
		return err
	}
	if err := os.Remove(old.lines()); err != nil {
		return err
	}
	s.baseline, s.data = old, filepath.Join(dir, "new")
	if err := program.Copy(ctx, old.data, s.data); err != nil {
		return fmt.Errorf("copy the baseline's store: %w", err)
	}
	return s.command(ctx, "store", "migrate", "up", "--quiet")
}

// serveBaseline starts the baseline on its own store and sends it the same requests in
// advance as the store under test.
func (s *shop) serveBaseline(ctx context.Context, c benchCase) (*process, error) {
	p, err := s.baseline.serve(ctx, c.serve...)
	if err != nil {
		return nil, err
	}
	if err := warm(ctx, p.address, c); err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// startToAnswer is the median time from the start of the store's process to its
// first correct response.
func (s *shop) startToAnswer(ctx context.Context) (time.Duration, error) {
	counted, _, err := repeat(5, func(i int) (time.Duration, error) {
		began := time.Now()
		store, err := s.serve(ctx)
		if err != nil {
			return 0, err
		}
		defer store.stop()
		_, err = answerOf(store.address, valid(i))
		return time.Since(began), err
	})
	return quantileOf(counted, median, func(took time.Duration) time.Duration { return took }), err
}

// watchLog follows the size of SQLite's write-ahead log until the returned function is
// called, which returns the largest size in bytes, 0 without a log.
func (s *shop) watchLog(ctx context.Context) func() int64 {
	ctx, stop := context.WithCancel(ctx)
	largest := make(chan int64, 1)
	go func() {
		size := int64(0)
		for ; ctx.Err() == nil; program.Pause(ctx, 50*time.Millisecond) {
			if info, err := os.Stat(filepath.Join(s.data, "store.db-wal")); err == nil {
				size = max(size, info.Size())
			}
		}
		largest <- size
	}()
	return func() int64 {
		stop()
		return <-largest
	}
}

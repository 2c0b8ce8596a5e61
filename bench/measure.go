package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// firstAnswer is one start of the store.
type firstAnswer struct {
	took   time.Duration
	stolen float64
}

func (a firstAnswer) stolenShare() float64 { return a.stolen }

// startToAnswer is the median time from the start of the store's process to its
// first right answer.
func (s *shop) startToAnswer(ctx context.Context) (time.Duration, error) {
	const tries = 5
	starts := repeats[firstAnswer]{want: tries, most: 2 * tries}
	for starts.more() {
		one, err := s.startOnce(ctx, valid(len(starts.all)))
		if err != nil {
			return 0, err
		}
		starts.all = append(starts.all, one)
	}
	counted, _ := starts.calmest()
	slices.SortFunc(counted, func(a, b firstAnswer) int { return cmp.Compare(a.took, b.took) })
	return counted[tries/2].took, nil
}

// startOnce starts the store, asks it once, and stops it.
func (s *shop) startOnce(ctx context.Context, q request) (firstAnswer, error) {
	before, err := readMachineTime()
	if err != nil {
		return firstAnswer{}, err
	}
	began := time.Now()
	store, err := s.serve(ctx)
	if err != nil {
		return firstAnswer{}, err
	}
	answer, err := answerOf(store.address, q)
	took := time.Since(began)
	after, noTime := readMachineTime()
	store.stop()
	if err = errors.Join(err, noTime); err != nil {
		return firstAnswer{}, err
	}
	if answer.Status != q.status {
		return firstAnswer{}, fmt.Errorf("the first answer has the status %d: %.200s", answer.Status, answer.Body)
	}
	return firstAnswer{took, after.stolenSince(before)}, nil
}

// logWatch follows the size of SQLite's write-ahead log.
type logWatch struct {
	largest int64
	end     func()
}

// watchLog begins to look at the log several times a second.
func (s *shop) watchLog() *logWatch {
	w := new(logWatch)
	path := filepath.Join(s.data, "store.db-wal")
	stop, ended := make(chan struct{}), make(chan struct{})
	w.end = sync.OnceFunc(func() { close(stop); <-ended })
	go func() {
		defer close(ended)
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			if info, err := os.Stat(path); err == nil {
				w.largest = max(w.largest, info.Size())
			}
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}()
	return w
}

// stop ends the watch and returns the largest size in bytes, 0 without a log.
func (w *logWatch) stop() int64 {
	w.end()
	return w.largest
}

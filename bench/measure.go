package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// startToAnswer is the median time from the start of the store's process to its
// first right answer.
func (s *shop) startToAnswer(ctx context.Context) (time.Duration, error) {
	const tries = 5
	var took []time.Duration
	for i := range tries {
		began := time.Now()
		store, err := s.serve(ctx)
		if err != nil {
			return 0, err
		}
		q := valid(i)
		answer, err := answerOf(store.address, q)
		took = append(took, time.Since(began))
		store.stop()
		if err != nil {
			return 0, err
		}
		if answer.Status != q.status {
			return 0, fmt.Errorf("the first answer has the status %d: %.200s", answer.Status, answer.Body)
		}
	}
	slices.Sort(took)
	return took[tries/2], nil
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

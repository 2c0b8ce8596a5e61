// Package measure reads in the background what metrics say, so that no scrape waits for a
// database or a disk.
package measure

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/group"
)

const (
	// Often is the interval of readings that cost little.
	Often = 15 * time.Second
	// Seldom is the interval of readings that cost more.
	Seldom = 10 * time.Minute
	// maxReading bounds one reading.
	maxReading = 10 * time.Second
	// intervalsKept is for how many intervals a value counts. One reading may fail.
	intervalsKept = 4
)

// Value is read at intervals, and known while the last reading is not too old. Set the
// fields before Run. Its other methods may be called from many goroutines.
type Value[T any] struct {
	// Read reads the value. After an error the earlier one stays for a while.
	Read func(context.Context) (T, error)
	// Interval is how often.
	Interval time.Duration
	Now      func() time.Time
	Log      *slog.Logger

	mu    sync.Mutex
	value T
	at    time.Time // zero before the first reading
}

// Run reads the value at once, and then at intervals until ctx ends.
func (v *Value[T]) Run(ctx context.Context) {
	for {
		v.read(ctx)
		if !group.Sleep(ctx, v.Interval, nil) {
			return
		}
	}
}

func (v *Value[T]) read(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, maxReading)
	defer cancel()
	// The metrics say that a value is missing, and the service logs what it meets itself.
	_ = group.Contain(v.Log, "reading for metrics", func() error {
		value, err := v.Read(ctx)
		if err != nil {
			return err
		}
		v.Set(value)
		return nil
	})
}

// Set is a reading of its own.
func (v *Value[T]) Set(value T) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.value, v.at = value, v.Now()
}

// Last returns the value that was read last. known is false when that is too long ago.
func (v *Value[T]) Last() (value T, known bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.at.IsZero() || v.Now().Sub(v.at).Abs() > intervalsKept*v.Interval {
		return value, false
	}
	return v.value, true
}

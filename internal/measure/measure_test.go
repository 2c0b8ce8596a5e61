package measure

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// start runs a value in a bubble of time until the test ends.
func start(t *testing.T, read func(context.Context) (int, error)) *Value[int] {
	t.Helper()
	v := &Value[int]{Read: read, Interval: Often, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		v.Run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	return v
}

func want(t *testing.T, when string, v *Value[int], value int, known bool) {
	t.Helper()
	synctest.Wait()
	if got, ok := v.Last(); got != value || ok != known {
		t.Errorf("%s: %d, %t; want %d, %t", when, got, ok, value, known)
	}
}

func TestAValueIsReadAtOnceAndAtIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		v := start(t, func(context.Context) (int, error) { n++; return n, nil })
		want(t, "at once", v, 1, true)
		time.Sleep(Often)
		want(t, "after an interval", v, 2, true)
	})
}

func TestAValueThatCanNotBeReadIsForgotten(t *testing.T) {
	for name, fault := range map[string]func(context.Context) (int, error){
		"an error": func(context.Context) (int, error) { return 0, errors.New("down") },
		"a panic":  func(context.Context) (int, error) { panic("oops") },
		"a reading that takes too long": func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var broken atomic.Bool
				v := start(t, func(ctx context.Context) (int, error) {
					if broken.Load() {
						return fault(ctx)
					}
					return 7, nil
				})
				want(t, "before", v, 7, true)
				broken.Store(true)
				time.Sleep(3 * Often)
				want(t, "for a while", v, 7, true)
				time.Sleep(2 * Often)
				want(t, "later", v, 0, false)
				broken.Store(false)
				time.Sleep(2 * Often)
				want(t, "again", v, 7, true)
			})
		})
	}
}

func TestAReadingThatHangsIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang, first := make(chan struct{}), true
		v := start(t, func(context.Context) (int, error) {
			if !first {
				<-hang // as a disk that does not answer
			}
			first = false
			return 7, nil
		})
		time.Sleep(time.Hour)
		want(t, "after an hour", v, 0, false)
		close(hang)
		want(t, "then", v, 7, true)
	})
}

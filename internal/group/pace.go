package group

import (
	"context"
	"time"
)

// Every calls f each time d has passed, until ctx ends. The first call comes after d.
func Every(ctx context.Context, d time.Duration, f func(context.Context)) {
	for Sleep(ctx, d, nil) {
		f(ctx)
	}
}

// Sleep waits until d has passed or something arrives on wake, which may be nil. It
// returns false when ctx has ended.
func Sleep(ctx context.Context, d time.Duration, wake <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-wake:
	}
	return ctx.Err() == nil
}

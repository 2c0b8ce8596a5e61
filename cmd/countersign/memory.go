package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// The heap of a server is small, so collecting it each time it doubles costs a
// tenth of the processor's time. It may grow to five times what lives in it,
// but beyond heapRoom only by three quarters of that.
const (
	serverGCPercent = 400
	heapRoom        = 120 << 20
)

// tuneMemory follows the live heap until ctx ends. Whoever sets GOGC or
// GOMEMLIMIT has decided otherwise.
func (a *app) tuneMemory(ctx context.Context) {
	if a.getenv("GOGC") != "" || a.getenv("GOMEMLIMIT") != "" {
		<-ctx.Done()
		return
	}
	percent, limit := debug.SetGCPercent(serverGCPercent), debug.SetMemoryLimit(heapRoom)
	defer func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		metrics.Read(live)
		debug.SetMemoryLimit(max(heapRoom, int64(live[0].Value.Uint64())/4*7))
	}
}

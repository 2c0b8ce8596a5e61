package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/countersign/countersign/internal/group"
)

// The heap of a server is small, so collecting it each time it doubles costs a
// tenth of the processor's time. It may grow to five times what lives in it,
// but beyond heapRoom only by three quarters of that. Stacks are read through by
// each collection, so with thousands of connections there is stackRoom for each
// byte of them: else the collector takes more time than the requests. Strangers
// decide how many there are, so beyond manyStacks there is a byte for each.
const (
	serverGCPercent = 400
	heapRoom        = 120 << 20
	stackRoom       = 8
	manyStacks      = 16 << 20
)

// tuneMemory follows the live heap until ctx ends. Whoever sets GOGC or
// GOMEMLIMIT has decided otherwise.
func (a *app) tuneMemory(ctx context.Context) {
	if a.Getenv("GOGC") != "" || a.Getenv("GOMEMLIMIT") != "" {
		<-ctx.Done()
		return
	}
	percent, limit := debug.SetGCPercent(serverGCPercent), debug.SetMemoryLimit(heapRoom)
	defer func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}()
	var before int64
	group.Every(ctx, time.Second, func(context.Context) {
		live, stacks := memoryInUse()
		debug.SetMemoryLimit(memoryLimit(min(live, before), stacks)) // a burst that ends within a second does not count
		before = live
	})
}

// memoryInUse is what lived in the heap at the last collection, and the stacks, in bytes.
func memoryInUse() (live, stacks int64) {
	read := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(read)
	return int64(read[0].Value.Uint64()), int64(read[1].Value.Uint64())
}

// memoryLimit is how much memory the runtime may use, in bytes.
func memoryLimit(live, stacks int64) int64 {
	return max(heapRoom, live/4*7) + stacks + min(stackRoom*stacks, max(manyStacks, stacks))
}

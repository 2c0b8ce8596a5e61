package addon

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
)

// background is work that goes on until its context ends or a part of it fails.
type background struct {
	ctx  context.Context
	stop context.CancelCauseFunc
	log  *slog.Logger
	work sync.WaitGroup
	once sync.Once
	err  error
}

func newBackground(ctx context.Context, log *slog.Logger) *background {
	ctx, stop := context.WithCancelCause(ctx)
	return &background{ctx: ctx, stop: stop, log: log}
}

// start runs a part. Its panic is logged and ends the whole work, not the
// process: without the part the addon could not be trusted.
func (b *background) start(name string, part func(context.Context)) {
	b.work.Go(func() {
		defer func() {
			if cause := recover(); cause != nil {
				b.log.Error("background work panicked", "work", name, "panic", cause, "stack", string(debug.Stack()))
				b.fail(fmt.Errorf("addon: %s: panic: %v", name, cause))
			}
		}()
		part(b.ctx)
	})
}

// fail ends the work with an error; the first one counts.
func (b *background) fail(err error) {
	if err == nil {
		return
	}
	b.once.Do(func() { b.err = err })
	b.stop(err)
}

// wait waits for all parts and returns what ended them early.
func (b *background) wait() error {
	b.work.Wait()
	b.stop(nil)
	return b.err
}

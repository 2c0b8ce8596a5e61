// Package group runs background tasks that stop together, contains their panics, and
// paces what they repeat.
package group

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"golang.org/x/sync/errgroup"
)

// Group is background tasks that run until their context ends or one of them fails.
type Group struct {
	ctx   context.Context
	tasks *errgroup.Group
	log   *slog.Logger
}

// New returns an empty group whose tasks stop when ctx ends.
func New(ctx context.Context, log *slog.Logger) *Group {
	tasks, ctx := errgroup.WithContext(ctx)
	return &Group{ctx, tasks, log}
}

// Go starts a task. Its error or panic ends the context of all tasks.
func (g *Group) Go(name string, task func(context.Context) error) {
	g.tasks.Go(func() error {
		return Contain(g.log, name, func() error { return task(g.ctx) })
	})
}

// Start is Go for a task without an error.
func (g *Group) Start(name string, task func(context.Context)) {
	g.Go(name, func(ctx context.Context) error {
		task(ctx)
		return nil
	})
}

// Wait waits until all tasks have ended and returns the first error.
func (g *Group) Wait() error { return g.tasks.Wait() }

// Contain calls f. A panic in f is logged with its stack and returned as an error, so
// that it ends this work and not the process.
func Contain(log *slog.Logger, name string, f func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			log.Error("background work panicked", "work", name, "panic", cause, "stack", string(debug.Stack()))
			err = fmt.Errorf("%s: panic: %v", name, cause)
		}
	}()
	return f()
}

package store

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

func TestBackgroundWorkEndsTogether(t *testing.T) {
	failure := errors.New("failure")
	untilTheEnd := func(ctx context.Context) { <-ctx.Done() }
	for name, c := range map[string]struct {
		part func(b *background) func(context.Context)
		want string
	}{
		"a part that fails ends the others":  {func(b *background) func(context.Context) { return func(context.Context) { b.fail(failure) } }, "failure"},
		"a part that panics ends the others": {func(*background) func(context.Context) { return func(context.Context) { panic("oops") } }, "panic: oops"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBackground(t.Context(), slog.New(slog.DiscardHandler))
			b.start("another", untilTheEnd)
			b.start("the part", c.part(b))
			if err := b.wait(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	t.Run("the end of the context is no failure", func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		b := newBackground(ctx, slog.New(slog.DiscardHandler))
		b.start("a part", untilTheEnd)
		b.start("another", func(context.Context) { stop() })
		if err := b.wait(); err != nil {
			t.Error(err)
		}
	})
}

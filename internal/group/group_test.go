package group

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign/internal/expect"
)

var discard = slog.New(slog.DiscardHandler)

func TestTasksEndTogether(t *testing.T) {
	for name, c := range map[string]struct {
		task func(context.Context) error
		want string
	}{
		"a task that fails ends the others":  {func(context.Context) error { return errors.New("failure") }, "failure"},
		"a task that panics ends the others": {func(context.Context) error { panic("oops") }, "the task: panic: oops"},
	} {
		t.Run(name, func(t *testing.T) {
			g := New(t.Context(), discard)
			g.Start("another", func(ctx context.Context) { <-ctx.Done() })
			g.Go("the task", c.task)
			if err := g.Wait(); err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	t.Run("the end of the context is not an error", func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		g := New(ctx, discard)
		g.Start("a task", func(ctx context.Context) { <-ctx.Done() })
		g.Start("another", func(context.Context) { stop() })
		expect.NoError(t, g.Wait())
	})
}

func TestAPanicIsLoggedWithItsStack(t *testing.T) {
	var text strings.Builder
	err := Contain(slog.New(slog.NewTextHandler(&text, nil)), "the work", func() error { panic("oops") })
	if err == nil {
		t.Error("no error")
	}
	for _, want := range []string{`work="the work"`, "panic=oops", "group_test.go"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the log lacks %s: %s", want, &text)
		}
	}
}

func TestEveryCallsUntilTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 3*time.Second+time.Millisecond)
		defer stop()
		calls := 0
		Every(ctx, time.Second, func(context.Context) { calls++ })
		expect.Equalf(t, calls, 3, "calls in 3 s")
	})
}

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wake := make(chan struct{}, 1)
		wake <- struct{}{}
		begin := time.Now()
		if !Sleep(t.Context(), time.Hour, wake) || !time.Now().Equal(begin) {
			t.Error("the wake-up did not end it")
		}
		if !Sleep(t.Context(), time.Hour, wake) || time.Since(begin) != time.Hour {
			t.Error("the time did not end it")
		}
		ended, stop := context.WithCancel(t.Context())
		stop()
		wake <- struct{}{}
		if Sleep(ended, time.Hour, wake) {
			t.Error("it goes on after the end of the context")
		}
	})
}

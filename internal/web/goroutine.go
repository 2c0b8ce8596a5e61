package web

import (
	"fmt"
	"log/slog"
	"runtime/debug"
)

// Go runs f in a goroutine of its own. A panic is logged under the name and ends that goroutine alone, not the
// process. The channel is closed when f is over; its value says how a panic ended it, or nothing was sent.
func Go(log *slog.Logger, name string, f func()) <-chan error {
	done := make(chan error, 1)
	go func() {
		defer close(done)
		defer func() {
			if cause := recover(); cause != nil {
				if log != nil {
					log.Error("goroutine panicked", "name", name, "panic", cause, "stack", string(debug.Stack()))
				}
				done <- fmt.Errorf("web: %s panicked: %v", name, cause)
			}
		}()
		f()
	}()
	return done
}

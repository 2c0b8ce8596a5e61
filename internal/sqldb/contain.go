package sqldb

import (
	"errors"
	"log/slog"
	"runtime/debug"
)

// errPanicked is the outcome of background work that panicked.
var errPanicked = errors.New("sqldb: background work panicked; the log says more")

// contain is deferred in a goroutine. A panic is logged and ends that goroutine alone,
// not the process.
func contain(log *slog.Logger, work string) {
	if cause := recover(); cause != nil {
		log.Error("background work panicked", "work", work, "panic", cause, "stack", string(debug.Stack()))
	}
}

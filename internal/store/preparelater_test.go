package store

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"
)

// onMessage calls fn with each message of a log.
type onMessage struct {
	slog.Handler
	fn func(message string)
}

// Enabled is that of [slog.Handler].
func (onMessage) Enabled(context.Context, slog.Level) bool { return true }

// Handle is that of [slog.Handler].
func (o onMessage) Handle(_ context.Context, r slog.Record) error {
	o.fn(r.Message)
	return nil
}

// A package is upgraded while cron writes a backup.
func TestAMigrationWaitsForTheBackupOfAnotherProcess(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		f.older(t)
		folder := filepath.Join(f.at.Dir, "backups")
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		other := flock.New(filepath.Join(folder, "store.lock"))
		if locked, err := other.TryLock(); err != nil || !locked {
			t.Fatal(locked, err)
		}
		o := optionsOf(f.at, f.clock)
		var s *Store
		said := 0
		o.Log = slog.New(onMessage{slog.DiscardHandler, func(message string) {
			if strings.Contains(message, "waits for a backup") {
				said++
				wantError(t, s.Ready(t.Context()), "migrating")
				if err := other.Unlock(); err != nil {
					t.Error(err)
				}
			}
		}})
		s = opened(t, o)
		wantError(t, s.BeginToServe(t.Context()), "migrating")
		if err := s.prepareLater(t.Context()); err != nil || said != 1 {
			t.Fatalf("said so %d times, %v", said, err)
		}
		wantError(t, s.Ready(t.Context()), "")
	})
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/countersign/countersign/bench/program"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
)

const (
	// logLimit is the processor time in microseconds that the log of API requests may cost a call, writing included.
	logLimit = 3
	// logTurn is how long a turn is at least, and logSettle how long after it the log has written all but some counts.
	logTurn   = 10 * time.Second
	logSettle = 2 * time.Second
)

// logCases are the cases that are measured with the log of API requests and without it.
var logCases = []string{caseWarm, caseUniform, caseInvalid}

// useWithoutLog copies the store for a server that logs no requests. On PostgreSQL both use one database.
func (s *shop) useWithoutLog(ctx context.Context) error {
	dir := filepath.Join(s.settings.out, "without-log")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	without := *s
	without.settings.out, without.data = dir, filepath.Join(dir, "data")
	without.settings.serveFlags += " --request-log off"
	if err := program.Copy(ctx, s.data, without.data); err != nil {
		return fmt.Errorf("copy the store: %w", err)
	}
	s.baseline = &without
	return nil
}

// droppedSince is how many calls were not logged since a time, by servers that have stopped.
func (s *shop) droppedSince(ctx context.Context, began time.Time) (calls int64, err error) {
	err = s.opened(ctx, func(st *store.Store) error {
		state, err := st.Requests.State(ctx, people.Operator("bench"), 0)
		for _, g := range state.Gaps {
			if !g.Until.Before(began.Truncate(time.Second)) {
				calls += g.Calls
			}
		}
		return err
	})
	return calls, err
}

// Package storetest opens stores for tests. Only tests import it.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/transfer"
)

// NewTemplate returns a template of a store that holds the lines of a file, written at the
// time that o says, and what more adds.
func NewTemplate(file string, o store.Options, more ...func(context.Context, *store.Store) error) *dbtest.Template {
	return dbtest.NewTemplate(func(db dbtest.DB) error {
		ctx := context.Background()
		lines, err := os.Open(file)
		if err != nil {
			return err
		}
		defer lines.Close()
		s, err := store.Open(ctx, optionsOf(db, o))
		if err != nil {
			return err
		}
		err = fill(ctx, s, lines)
		for _, add := range more {
			if err == nil {
				err = add(ctx, s)
			}
		}
		return errors.Join(err, s.Close())
	})
}

func fill(ctx context.Context, s *store.Store, lines *os.File) error {
	if err := s.Prepare(ctx); err != nil {
		return err
	}
	var bad []error
	_, err := s.Transfer.Import(ctx, people.Operator("test"), lines, transfer.ImportOptions{Bad: func(line int, reason string, _ []byte) {
		bad = append(bad, fmt.Errorf("%s, line %d: %s", lines.Name(), line, reason))
	}})
	return errors.Join(append(bad, err)...)
}

// optionsOf are the options for the store of a database.
func optionsOf(db dbtest.DB, o store.Options) store.Options {
	o.Dir, o.URL, o.HashCost = db.Dir, db.URL, people.TestCost
	return o
}

// Open opens and prepares the store of a database, and closes it with the test.
func Open(t testing.TB, db dbtest.DB, o store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), optionsOf(db, o))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

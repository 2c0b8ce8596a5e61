package backup_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/store"
)

// This test binary is also the program that is killed while it restores.
func TestMain(m *testing.M) { dbtest.Main(m, beKilled) }

const (
	// moveStep begins the steps of a move.
	moveStep = "move "
	// targetFile holds the URL of the database to move to.
	targetFile = "target"
)

// beKilled moves the store, or restores the backup in the data folder, and waits at a step.
func beKilled(step string, place dbtest.DB) error {
	ctx := context.Background()
	if wanted, ok := strings.CutPrefix(step, moveStep); ok {
		url, err := os.ReadFile(filepath.Join(place.Dir, targetFile))
		if err == nil {
			_, err = move(ctx, place, string(url), waitAt(wanted))
		}
		return err
	}
	s, err := store.Backups(options(place))
	if err != nil {
		return err
	}
	s.Reached(waitAt(step))
	_, err = s.Restore(ctx, backup.Source{File: filepath.Join(place.Dir, "one.backup"), WithoutCode: true})
	return err
}

func waitAt(step string) func(string) {
	return func(reached string) {
		if reached == step {
			fmt.Println("waiting")
			select {}
		}
	}
}

func TestARestoreThatIsKilledLeavesTheOldStoreOrTheNewOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		step string
		new  bool
	}{{"read", false}, {"loaded", false}, {"replaced", true}, {"done", true}} {
		t.Run(c.step, func(t *testing.T) {
			t.Parallel()
			template.Engines(t, func(t *testing.T, db dbtest.DB) {
				other := at(t, dbtest.New(t, db.Engine)) // with another key file
				with(t, other.db, func(ctx context.Context, s *store.Store) error {
					_, err := s.CreateWorkspace(ctx, operator, workspace("zelda-9"))
					return err
				})
				made := other.create(t, backup.CreateOptions{KeyFile: true})
				want := export(t, db)
				if c.new {
					want = export(t, other.db)
				}
				copyFile(t, made.File, filepath.Join(db.Dir, "one.backup"))
				dbtest.Killed(t, db, c.step)
				if got := export(t, db); got != want {
					t.Errorf("after the kill the store has other content: %d bytes, want %d", len(got), len(want))
				}
			})
		})
	}
}

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/sample"
)

// secondStore is a second store process on the shop's database: this one.
type secondStore struct {
	store *store.Store
	stop  context.CancelFunc
	ended chan error
}

var harness = people.Operator("bench")

// openSecond opens the database with a data folder of its own and the key of the
// shop's, as a second server does.
func (s *shop) openSecond(ctx context.Context) (*secondStore, error) {
	key, err := os.ReadFile(filepath.Join(s.data, "countersign.key"))
	if err != nil {
		return nil, err
	}
	opened, err := store.Open(ctx, store.Options{
		Dir: filepath.Join(s.data, "second"), URL: s.settings.database, KeyText: strings.TrimSpace(string(key)),
	})
	if err != nil {
		return nil, err
	}
	if err := opened.Prepare(ctx); err != nil {
		_ = opened.Close()
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	second := &secondStore{store: opened, stop: stop, ended: make(chan error, 1)}
	go func() { second.ended <- opened.Run(ctx) }()
	return second, nil
}

func (s *secondStore) close() {
	s.stop()
	<-s.ended
	_ = s.store.Close() // everything is written: a change returns when it is
}

func (s *secondStore) refund(ctx context.Context, code string) error {
	_, err := s.store.RefundPurchase(ctx, harness, code)
	return err
}

func (s *secondStore) createKey(ctx context.Context, name string) (id int64, key string, err error) {
	made, key, err := s.store.CreateKey(ctx, harness, store.NewKey{Workspace: sample.BigWorkspace, Name: name, Class: store.ClassSecret})
	return made.ID, key, err
}

func (s *secondStore) revokeKey(ctx context.Context, id int64) error {
	_, err := s.store.RevokeKey(ctx, harness, id)
	return err
}

package iap

import (
	"context"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/people"
)

// Published is what apps are served (spec 2.7): the view, and its JSON, encoded once.
// Both are immutable.
type Published struct {
	Config countersign.IAPConfig
	JSON   []byte
}

// Published returns what apps are served: from the cache, or from the database while
// there is none. Before the first update it is an error of kind Unavailable with the
// code update_needed.
func (s *Service) Published(ctx context.Context) (*Published, error) {
	if s.published.Cached() == nil && !s.guard.Installed() {
		return nil, s.guard.Ready()
	}
	return s.published.Get(ctx)
}

// Preview is what apps would be served if the draft were published.
func (s *Service) Preview(ctx context.Context, actor people.Actor) (Published, error) {
	if err := s.guard.May(actor, access.ManageSettings); err != nil {
		return Published{}, err
	}
	var p Published
	err := s.db.Snapshot(ctx, func(tx *addondb.DB) error {
		rows, err := tx.Settings(ctx)
		if err != nil {
			return err
		}
		p, err = s.view(ctx, tx, rows)
		return err
	})
	return p, err
}

func (s *Service) readPublished(ctx context.Context) (*Published, error) {
	var p Published
	err := s.db.Snapshot(ctx, func(tx *addondb.DB) error {
		last, err := tx.LastVersion(ctx)
		if err != nil {
			return err
		}
		p, err = s.view(ctx, tx, last.Settings.V)
		return err
	})
	return &p, err
}

// view makes the view of rows of settings.
func (s *Service) view(ctx context.Context, tx *addondb.DB, rows []addondb.Setting) (Published, error) {
	packages, err1 := tx.Packages(ctx)
	accounts, err2 := ReadAccounts(ctx, tx)
	if err := errors.Join(err1, err2); err != nil {
		return Published{}, err
	}
	config := s.config(ValuesOf(rows), packages, accounts)
	text, err := countersign.EncodeJSON(config)
	return Published{config, text}, err
}

// serveNow caches what a change of packages has changed. When that fails, the next
// request reads it.
func (s *Service) serveNow(ctx context.Context) {
	if _, err := s.Published(ctx); err != nil && ctx.Err() == nil {
		s.log.Warn("the view of in-app purchases could not be read back yet", "cause", err)
	}
}

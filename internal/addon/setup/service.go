// Package setup brings an addon from an empty data folder to the present version: the update, the
// set-up link of the first administrator, and the checklist of the owner.
package setup

import (
	"context"
	"log/slog"
	"time"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/license"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

// Options is what a service is built from. All fields are needed.
type Options struct {
	Version     string // of this build, for reports
	Instance    *instance.Instance
	DB          *addondb.DB
	Access      *access.Control
	Settings    *settings.Service
	IAP         *iap.Service
	Credentials *credential.Service
	Licenses    *license.Service
	Log         *slog.Logger
}

// Service sets up an addon. Its methods may be called from many goroutines.
type Service struct {
	o       Options
	updated chan struct{} // told when the state may have changed
}

// New returns the set-up of an addon, and the watcher that has to be told of changes.
func New(o Options) (*Service, sqldb.Watcher) {
	s := &Service{o: o, updated: make(chan struct{}, 1)}
	return s, sqldb.Watcher{Changed: s.changed, Lost: func() {}, Live: s.wake}
}

// metaUpdated is the name under which the database keeps when an update first ran
// to its end.
const metaUpdated = "addon_updated"

// Prepare finds out how far the addon is set up and loads its key file. Before
// the first update it returns an error of kind Unavailable with the code
// update_needed.
func (s *Service) Prepare(ctx context.Context) error {
	state, err := s.look(ctx)
	if err != nil {
		return err
	}
	if (state == access.StateReady || state == access.StateOutdated) && s.o.Access.Box() == nil {
		if err := s.openKey(ctx); err != nil {
			return err
		}
	}
	s.o.Access.SetState(state)
	return s.o.Access.Ready()
}

// look reads how far the addon is set up. It writes nothing. An empty database beside
// a key file is a conflict.
func (s *Service) look(ctx context.Context) (access.State, error) {
	tables, err := s.o.Instance.Location.State(ctx, s.o.Instance.Database)
	if err != nil {
		return "", err
	}
	switch tables {
	case sqldb.StateEmpty:
		return access.StateNew, nil
	case sqldb.StateNewer:
		return access.StateNewer, nil
	}
	updated, err := s.o.DB.Meta(ctx, metaUpdated)
	switch {
	case err != nil:
		return "", err
	case updated == "":
		return access.StateNew, nil
	case tables == sqldb.StateOlder:
		return access.StateOutdated, nil
	}
	return access.StateReady, nil
}

// changed is notified of changes by all processes.
func (s *Service) changed(topic, _ string) {
	switch topic {
	case addondb.TopicUpdate:
		s.wake()
	case peopledb.TopicUsers:
		s.endLinkFile()
	}
}

// wake wakes whoever waits for an update, also after changes may have been missed.
func (s *Service) wake() {
	select {
	case s.updated <- struct{}{}:
	default:
	}
}

// Sleep waits for a time, or until there may be an update. It returns false when ctx ends first.
func (s *Service) Sleep(ctx context.Context, d time.Duration) bool {
	return group.Sleep(ctx, d, s.updated)
}

// Follow returns an error when a later version has updated the database, and nil when ctx ends.
func (s *Service) Follow(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.updated:
		}
		for err := s.Prepare(ctx); err != nil; err = s.Prepare(ctx) {
			if ctx.Err() == nil && !fault.IsUnavailable(err) {
				return err
			}
			if !group.Sleep(ctx, time.Second, nil) {
				return nil
			}
		}
	}
}

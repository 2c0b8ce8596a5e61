package settings

import (
	"context"
	"errors"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// Unregistered is what a database lacks of the settings that this build knows.
type Unregistered struct {
	// New definitions are not registered, Changed ones otherwise.
	New, Changed []Definition
	// NotInDraft and NotPublished have no value there.
	NotInDraft, NotPublished []Definition
	// Published is the number of the version that is served, 0 for none.
	Published int64
	last      addondb.Version
}

// NothingRegistered is what a database without tables lacks.
func NothingRegistered() Unregistered {
	return Unregistered{New: Definitions(), NotInDraft: Definitions(), NotPublished: Definitions()}
}

// ReadUnregistered finds out what the tables lack.
func ReadUnregistered(ctx context.Context, db *addondb.DB) (Unregistered, error) {
	registered, err := db.Definitions(ctx)
	if err != nil {
		return Unregistered{}, err
	}
	draft, err := db.Settings(ctx)
	if err != nil {
		return Unregistered{}, err
	}
	last, err := db.LastVersion(ctx)
	if err != nil && !errors.Is(err, sqldb.ErrNotFound) {
		return Unregistered{}, err
	}
	known := map[string]addondb.Definition{}
	for _, x := range registered {
		known[x.Name] = x
	}
	u := Unregistered{NotInDraft: lacking(draft), NotPublished: lacking(last.Settings.V), Published: last.Number, last: last}
	for _, d := range definitions {
		x, there := known[d.Key]
		switch {
		case !there:
			u.New = append(u.New, d)
		case x.Kind != string(d.Type) || x.Secret != d.Secret || x.Fallback != d.Default:
			u.Changed = append(u.Changed, d)
		}
	}
	return u, nil
}

// lacking lists the definitions that rows of settings have no value of.
func lacking(rows []addondb.Setting) []Definition {
	there := map[string]bool{}
	for _, row := range rows {
		there[row.Name] = true
	}
	var list []Definition
	for _, d := range definitions {
		if !there[d.Key] {
			list = append(list, d)
		}
	}
	return list
}

// Register registers definitions and puts new settings into the draft, at their
// defaults. The caller holds the lock of the draft.
func (s *Service) Register(ctx context.Context, tx *addondb.DB, u Unregistered) error {
	for _, list := range [][]Definition{u.New, u.Changed} {
		for _, d := range list {
			err := tx.PutDefinition(ctx, addondb.Definition{
				Name: d.Key, Kind: string(d.Type), Secret: d.Secret, Fallback: d.Default, RegisteredAt: s.access.Timestamp(),
			})
			if err != nil {
				return err
			}
		}
	}
	for _, d := range u.NotInDraft {
		if err := tx.PutSetting(ctx, addondb.Setting{Name: d.Key, Kind: string(d.Type), Value: d.Default}); err != nil {
			return err
		}
	}
	if len(u.NotInDraft) == 0 || u.Published == 0 {
		return nil
	}
	return tx.RaiseRevision(ctx)
}

// PublishDefaults publishes the defaults of new settings beside what is served. The
// caller holds the lock of the draft.
func (s *Service) PublishDefaults(ctx context.Context, tx *addondb.DB, actor people.Actor, u Unregistered) error {
	if len(u.NotPublished) == 0 {
		return nil
	}
	note := "Default settings, by the update"
	if u.Published > 0 {
		note = "New settings at their defaults, by the update"
	}
	next := s.newVersion(actor, u.Published+1, note, publishing{values: valuesOf(u.last.Settings.V)})
	if err := tx.AddVersion(ctx, next); err != nil {
		return err
	}
	return s.auditVersion(ctx, tx, actor, next)
}

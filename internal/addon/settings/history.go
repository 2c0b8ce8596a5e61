package settings

import (
	"context"
	"fmt"
	"maps"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// Versions lists versions before a number, newest first, at most limit (50 when
// it is 0, never more than 500); before is 0 for the newest.
func (s *Service) Versions(ctx context.Context, actor people.Actor, before int64, limit int) ([]Version, error) {
	if err := s.access.May(actor, access.ManageSettings); err != nil {
		return nil, err
	}
	if limit <= 0 {
		limit = 50
	}
	rows, err := s.db.Versions(ctx, before, min(limit, 500))
	return sqldb.Convert(rows, versionOf), err
}

// VersionDetail is a version with its values.
type VersionDetail struct {
	Version
	// List holds the settings of the version; Value is the version's, Published
	// what is served now, and Changed tells where they differ.
	List []Setting
	// Changes is what it changed against the version before it; all settings for
	// the first.
	Changes []Change
	// Back is what bringing it back would change against what is served now.
	Back []Change
	// Concerns is what bringing it back would change for members.
	Concerns []Problem
	// Body is the public settings as the apps received them.
	Body []byte
}

// Version reads one. Its error is of kind NotFound.
func (s *Service) Version(ctx context.Context, actor people.Actor, number int64) (VersionDetail, error) {
	if err := s.access.May(actor, access.ManageSettings); err != nil {
		return VersionDetail{}, err
	}
	var detail VersionDetail
	err := s.db.Snapshot(ctx, func(tx *addondb.DB) error {
		this, err := tx.Version(ctx, number)
		if err != nil {
			return sqldb.IfNotFound(err, noVersion(number))
		}
		earlier, err := tx.Versions(ctx, number, 1)
		if err != nil {
			return err
		}
		last, err := tx.LastVersion(ctx)
		if err != nil {
			return err
		}
		accounts, err := iap.ReadAccounts(ctx, tx)
		if err != nil {
			return err
		}
		before := values{}
		if len(earlier) == 1 {
			before = valuesOf(earlier[0].Settings.V)
		}
		now, then := valuesOf(last.Settings.V), valuesOf(this.Settings.V)
		detail = VersionDetail{
			Version: versionOf(this), List: settingsOf(then, now, accounts), Body: []byte(this.Body),
			Changes: changes(before, then, accounts), Back: changes(now, then, accounts),
		}
		detail.Concerns, err = memberProblems(ctx, tx, now, then)
		return err
	})
	return detail, err
}

func noVersion(number int64) *countersign.Error {
	return fault.NotFound("version_not_found", fmt.Sprintf("No version %d of the settings", number))
}

// Rollback publishes the values of an earlier version again, as a new version.
// Unpublished changes stay in the draft.
func (s *Service) Rollback(ctx context.Context, actor people.Actor, number int64, note string) (Publication, error) {
	return s.publish(ctx, actor, note, func(tx *addondb.DB, last addondb.Version) (publishing, error) {
		target, err := tx.Version(ctx, number)
		if err != nil {
			return publishing{}, sqldb.IfNotFound(err, noVersion(number))
		}
		rows, err := tx.Settings(ctx)
		if err != nil {
			return publishing{}, err
		}
		accounts, err := iap.ReadAccounts(ctx, tx)
		if err != nil {
			return publishing{}, err
		}
		now, then, draft := valuesOf(last.Settings.V), valuesOf(target.Settings.V), valuesOf(rows)
		after := rebaseDraft(draft, now, then)
		_, err = s.writeDraft(ctx, tx, actor, "", changes(draft, after, accounts), after)
		return publishing{values: then, restored: number}, err
	})
}

// rebaseDraft returns a draft after what is served went from one state to another:
// settings without an unpublished change follow.
func rebaseDraft(draft, from, to values) values {
	after := maps.Clone(draft)
	for _, d := range described(draft, from, to) {
		drafted, served := draft[d.Key], from[d.Key]
		if drafted == served {
			after.restore(to, d.Key)
		}
	}
	return after
}

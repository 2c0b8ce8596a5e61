package settings

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// Publication is the result of a publish.
type Publication struct {
	// Version is what is served now.
	Version Version
	// Nothing reports that the draft was already what is served; no version was
	// made.
	Nothing bool
	Changes []Change
	// Warnings are the problems that did not stop it.
	Warnings []Problem
}

// Publish makes the draft the version that is served. Errors:
//
//   - kind Invalid, code settings_invalid: the draft has problems that are errors;
//     Fields names them by key;
//   - kind Precondition, code settings_changed: the draft is not the one of the
//     revision that the caller has seen; 0 is "whatever it is".
func (s *Service) Publish(ctx context.Context, actor people.Actor, revision int64, note string) (Publication, error) {
	return s.publish(ctx, actor, note, func(tx *addondb.DB, _ addondb.Version) (publishing, error) {
		current, err := tx.Revision(ctx)
		if err != nil {
			return publishing{}, err
		}
		if revision != 0 && revision != current {
			return publishing{}, errSettingsChanged
		}
		rows, err := tx.Settings(ctx)
		return publishing{values: valuesOf(rows)}, err
	})
}

// publishing is what is to be published.
type publishing struct {
	values values
	// restored is the version that it comes from, 0 for the draft.
	restored int64
}

// publish makes a version of what choose gives it, in one transaction, and serves
// it before it returns.
func (s *Service) publish(ctx context.Context, actor people.Actor, note string,
	choose func(*addondb.DB, addondb.Version) (publishing, error),
) (Publication, error) {
	if err := s.access.May(actor, access.ManageSettings); err != nil {
		return Publication{}, err
	}
	note, err := checkNote(note)
	if err != nil {
		return Publication{}, err
	}
	var result Publication
	err = s.db.Tx(ctx, func(tx *addondb.DB) error {
		if _, err := tx.LockDraft(ctx); err != nil {
			return err
		}
		last, err := tx.LastVersion(ctx)
		if err != nil {
			return err
		}
		chosen, err := choose(tx, last)
		if err != nil {
			return err
		}
		result, err = s.publishChosen(ctx, tx, actor, note, last, chosen)
		if err != nil || result.Nothing {
			return err
		}
		return s.concluded(ctx, tx, valuesOf(last.Settings.V).iap(), chosen.values.iap())
	})
	if err != nil {
		return Publication{}, err
	}
	s.serveNow(ctx)
	return result, nil
}

func (s *Service) publishChosen(ctx context.Context, tx *addondb.DB, actor people.Actor, note string, last addondb.Version, chosen publishing) (Publication, error) {
	packages, err := tx.Packages(ctx)
	if err != nil {
		return Publication{}, err
	}
	accounts, err := iap.ReadAccounts(ctx, tx)
	if err != nil {
		return Publication{}, err
	}
	concerns, err := memberProblems(ctx, tx, valuesOf(last.Settings.V), chosen.values)
	if err != nil {
		return Publication{}, err
	}
	result := Publication{Version: versionOf(last), Changes: changes(valuesOf(last.Settings.V), chosen.values, accounts)}
	if result.Nothing = len(result.Changes) == 0; result.Nothing {
		return result, nil
	}
	problems := map[string]string{}
	for _, p := range problemsOf(chosen.values, packages) {
		if p.Severity == SeverityError {
			problems[p.Key] = p.Text
		} else {
			result.Warnings = append(result.Warnings, p)
		}
	}
	if len(problems) > 0 {
		return Publication{}, input.RefusedPublish(problems)
	}
	result.Warnings = append(result.Warnings, concerns...)
	next := s.newVersion(actor, last.Number+1, note, chosen)
	if err := tx.AddVersion(ctx, next); err != nil {
		return Publication{}, err
	}
	result.Version = versionOf(next)
	return result, s.auditVersion(ctx, tx, actor, next)
}

func (s *Service) auditVersion(ctx context.Context, tx *addondb.DB, actor people.Actor, v addondb.Version) error {
	event := people.Event{Action: access.ActionSettingsPublish, Subject: fmt.Sprintf("version %d", v.Number), Detail: v.Note, After: fmt.Sprintf("version %d", v.Number)}
	if v.Number > 1 {
		event.Before = fmt.Sprintf("version %d", v.Number-1)
	}
	if v.Restored != 0 {
		event.Action, event.After = access.ActionSettingsRollback, fmt.Sprintf("version %d, with the values of version %d", v.Number, v.Restored)
	}
	return s.access.Audit(ctx, tx, actor, event)
}

func (s *Service) newVersion(actor people.Actor, number int64, note string, p publishing) addondb.Version {
	return addondb.Version{
		Number: number, PublishedAt: s.access.Timestamp(), ActorKind: string(actor.Kind), Actor: actor.ID, FrontEnd: string(actor.FrontEnd),
		Note: note, Restored: p.restored, Settings: sqldb.JSON[[]addondb.Setting]{V: p.values.rows()}, Body: string(publicBody(p.values)),
	}
}

func checkNote(note string) (string, error) {
	note = strings.TrimSpace(note)
	if !utf8.ValidString(note) || utf8.RuneCountInString(note) > maxNote || strings.ContainsFunc(note, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' }) {
		return "", input.Refused(map[string]string{"note": fmt.Sprintf("A note is up to %d characters of text", maxNote)})
	}
	return note, nil
}

package setup

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/wording"
)

// firstPair is the label of the pair that the first update makes.
const firstPair = "First pair"

// pendingUpdate is what an update has to do.
type pendingUpdate struct {
	tables     sqldb.State
	migrations int    // steps that the tables lack
	keyCheck   string // of the key file that belongs to the database, "" for none yet
	settings   settings.Unregistered
	pair       bool   // there is no pair
	setupToken string // of a set-up link that was made before there were tables
	updated    bool   // an update ran to its end before
	unread     bool   // the tables are of an earlier version
}

// pending finds out what an update has to do. It writes nothing.
func (s *Service) pending(ctx context.Context, tables sqldb.State) (pendingUpdate, error) {
	t := pendingUpdate{tables: tables, pair: true, settings: settings.NothingRegistered()}
	steps, err := s.o.Instance.Database.Migrations(ctx)
	if err != nil {
		return t, err
	}
	applied, older := map[string]bool{}, map[string]bool{}
	for _, m := range steps {
		applied[m.Schema] = applied[m.Schema] || m.Applied
		older[m.Schema] = older[m.Schema] || !m.Applied
		if !m.Applied {
			t.migrations++
		}
	}
	if setup, err := s.readLinkFile(); err == nil && setup.good(s.o.Access.Now()) {
		t.setupToken = setup.token
	}
	if tables == sqldb.StateEmpty || !applied["countersign"] {
		return t, nil
	}
	if t.keyCheck, err = s.o.DB.Meta(ctx, keyfile.CheckName); err != nil {
		return t, err
	}
	if !applied["addon"] {
		return t, nil
	}
	if older["addon"] {
		return pendingUpdate{tables: tables, migrations: t.migrations, keyCheck: t.keyCheck, unread: true}, nil
	}
	return t, t.read(ctx, s.o.DB)
}

// read finds out what the tables lack.
func (t *pendingUpdate) read(ctx context.Context, db *addondb.DB) error {
	lacks, err := settings.ReadUnregistered(ctx, db)
	if err != nil {
		return err
	}
	pairs, err := db.Credentials(ctx)
	if err != nil {
		return err
	}
	updated, err := db.Meta(ctx, metaUpdated)
	if err != nil {
		return err
	}
	t.settings, t.pair, t.updated = lacks, len(pairs) == 0, updated != ""
	if t.updated {
		t.setupToken = "" // links made since then are in the database
	}
	return nil
}

// text lists the steps, with an empty text where there is nothing to do.
func (t pendingUpdate) text() []Step {
	return []Step{
		{stepTables, t.tablesText()},
		{stepKey, when(t.keyCheck == "", "Create the key file, or use the existing one")},
		{stepDefinitions, t.definitionsText()},
		{stepSettings, t.settingsText()},
		{stepCredentials, when(t.pair, "Create the first API key and API secret, both active")},
		{stepSetup, when(t.setupToken != "", "Save the set-up link in the database")},
	}
}

func when(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

func (t pendingUpdate) tablesText() string {
	switch {
	case t.migrations == 0:
		return ""
	case t.tables == sqldb.StateEmpty || t.keyCheck == "":
		return "Create the tables"
	}
	return fmt.Sprintf("Migrate the tables to this version (%s)", count(t.migrations, "migration"))
}

func (t pendingUpdate) definitionsText() string {
	if t.unread {
		return "Register what is new; nothing is deleted"
	}
	if len(t.settings.New)+len(t.settings.Changed) == 0 && t.updated {
		return ""
	}
	return fmt.Sprintf("Register %s, change %s; nothing is deleted", count(len(t.settings.New), "setting"), count(len(t.settings.Changed), "definition"))
}

func (t pendingUpdate) settingsText() string {
	switch {
	case t.unread:
		return ""
	case t.settings.Published == 0:
		return "Publish the default settings as version 1"
	case len(t.settings.NotPublished) > 0:
		return fmt.Sprintf("Publish version %d with %s at the default", t.settings.Published+1, count(len(t.settings.NotPublished), "new setting"))
	case len(t.settings.NotInDraft) > 0:
		return fmt.Sprintf("Add %s to the draft", count(len(t.settings.NotInDraft), "new setting"))
	}
	return ""
}

func count(n int, noun string) string { return wording.Count(int64(n), noun, noun+"s") }

// register writes what an addon lacks, in one transaction. What it finds then
// counts, not the plan: another data folder on the same database may have been
// updated meanwhile.
func (s *Service) register(ctx context.Context, actor people.Actor, report *Report) error {
	step := Step{stepDefinitions, "Register the settings"}
	err := s.o.DB.Tx(ctx, func(tx *addondb.DB) error {
		// Others who update, change the draft or publish wait.
		if err := tx.MakeDraft(ctx); err != nil {
			return err
		}
		if _, err := tx.LockDraft(ctx); err != nil {
			return err
		}
		if err := s.o.Access.SameKeyFile(ctx, tx.Queries); err != nil {
			return err
		}
		now := pendingUpdate{}
		if err := now.read(ctx, tx); err != nil {
			return err
		}
		acts := []struct {
			step Step
			act  func() error
		}{
			{step, func() error { return s.o.Settings.Register(ctx, tx, now.settings) }},
			{Step{stepSettings, "Publish the settings"}, func() error { return s.o.Settings.PublishDefaults(ctx, tx, actor, now.settings) }},
			{Step{stepCredentials, "Create the first API credentials"}, func() error { return s.registerPair(ctx, tx, actor, now, report) }},
			{Step{stepSetup, "Save the set-up link in the database"}, func() error {
				if now.updated {
					return nil
				}
				return s.adoptLink(ctx, tx)
			}},
			{Step{stepDefinitions, "Record the update"}, func() error { return s.noteUpdate(ctx, tx, actor, report) }},
		}
		for _, x := range acts {
			step = x.step
			if err := x.act(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return stepFailed(step, err)
	}
	return nil
}

func (s *Service) registerPair(ctx context.Context, tx *addondb.DB, actor people.Actor, t pendingUpdate, report *Report) error {
	if !t.pair {
		return nil
	}
	created, _, err := s.o.Credentials.CreateIn(ctx, tx, actor, firstPair)
	if err != nil {
		return err
	}
	report.Created = &created
	return nil
}

// noteUpdate writes down that the update ran, and tells other processes.
func (s *Service) noteUpdate(ctx context.Context, tx *addondb.DB, actor people.Actor, report *Report) error {
	if err := tx.SetMeta(ctx, metaUpdated, s.o.Access.Timestamp().UTC().Format("2006-01-02T15:04:05Z")); err != nil {
		return err
	}
	for _, topic := range []string{addondb.TopicUpdate, addondb.TopicServed} {
		if err := tx.Mark(ctx, topic, ""); err != nil {
			return err
		}
	}
	return s.o.Access.Audit(ctx, tx, actor, people.Event{
		Action: access.ActionAddonUpdate, Subject: "version " + s.o.Version, Detail: count(len(report.Steps), "step"),
	})
}

package addon

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// firstPair is the label of the pair that the first update makes.
const firstPair = "First pair"

// todo is what an addon lacks.
type todo struct {
	tables     sqldb.State
	migrations int    // steps that the tables lack
	keyCheck   string // of the key file that belongs to the database, "" for none yet
	fresh      []Definition
	changed    []Definition
	unset      []Definition // not in the draft
	unserved   []Definition // not in what is published
	last       addondb.Version
	pair       bool   // there is no pair
	setupToken string // of a set-up link that was made before there were tables
	updated    bool   // an update ran to its end before
	unread     bool   // the tables are of an earlier version
}

// missing finds out what an addon lacks. It writes nothing.
func (a *Addon) missing(ctx context.Context, tables sqldb.State) (todo, error) {
	t := todo{tables: tables, pair: true, fresh: Definitions(), unset: Definitions(), unserved: Definitions()}
	steps, err := a.database.Migrations(ctx)
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
	if setup, err := a.readSetupFile(); err == nil && setup.good(a.now()) {
		t.setupToken = setup.token
	}
	if tables == sqldb.StateEmpty || !applied["countersign"] {
		return t, nil
	}
	if t.keyCheck, err = a.db.Meta(ctx, keyfile.CheckName); err != nil {
		return t, err
	}
	if !applied["addon"] {
		return t, nil
	}
	if older["addon"] {
		return todo{tables: tables, migrations: t.migrations, keyCheck: t.keyCheck, unread: true}, nil
	}
	return t, t.read(ctx, a.db)
}

// read finds out what the tables lack.
func (t *todo) read(ctx context.Context, db *addondb.DB) error {
	registered, err1 := db.Definitions(ctx)
	draft, err2 := db.Settings(ctx)
	last, err3 := db.LastVersion(ctx)
	pairs, err4 := db.Credentials(ctx)
	updated, err5 := db.Meta(ctx, metaUpdated)
	if errors.Is(err3, sqldb.ErrNotFound) {
		err3 = nil
	}
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return err
	}
	t.last, t.pair, t.updated = last, len(pairs) == 0, updated != ""
	if t.updated {
		t.setupToken = "" // links made since then are in the database
	}
	known := map[string]addondb.Definition{}
	for _, x := range registered {
		known[x.Name] = x
	}
	t.fresh, t.changed = nil, nil
	for _, d := range definitions {
		x, there := known[d.Key]
		switch {
		case !there:
			t.fresh = append(t.fresh, d)
		case x.Kind != string(d.Type) || x.Secret != d.Secret || x.Fallback != d.Default:
			t.changed = append(t.changed, d)
		}
	}
	t.unset, t.unserved = lacking(draft), lacking(last.Settings.V)
	return nil
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

// text lists the steps, with an empty text where there is nothing to do.
func (t todo) text() []Step {
	return []Step{
		{stepTables, t.tablesText()},
		{stepKey, when(t.keyCheck == "", "Make the key file, or take the one that is there")},
		{stepDefinitions, t.definitionsText()},
		{stepSettings, t.settingsText()},
		{stepCredentials, when(t.pair, "Create the first API key and API secret, both active")},
		{stepSetup, when(t.setupToken != "", "Take over the set-up link")},
	}
}

func when(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

func (t todo) tablesText() string {
	switch {
	case t.migrations == 0:
		return ""
	case t.tables == sqldb.StateEmpty || t.keyCheck == "":
		return "Make the tables"
	}
	return fmt.Sprintf("Bring the tables to this version (%s)", count(t.migrations, "migration"))
}

func (t todo) definitionsText() string {
	if t.unread {
		return "Register what is new; nothing is deleted"
	}
	if len(t.fresh)+len(t.changed) == 0 && t.updated {
		return ""
	}
	return fmt.Sprintf("Register %s, change %s; nothing is deleted", count(len(t.fresh), "setting"), count(len(t.changed), "definition"))
}

func (t todo) settingsText() string {
	switch {
	case t.unread:
		return ""
	case t.last.Number == 0:
		return "Publish the default settings as version 1"
	case len(t.unserved) > 0:
		return fmt.Sprintf("Publish version %d with %s at the default", t.last.Number+1, count(len(t.unserved), "new setting"))
	case len(t.unset) > 0:
		return fmt.Sprintf("Put %s into the draft", count(len(t.unset), "new setting"))
	}
	return ""
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// register writes what an addon lacks, in one transaction. What it finds then
// counts, not the plan: another data folder on the same database may have been
// updated meanwhile.
func (a *Addon) register(ctx context.Context, actor people.Actor, report *UpdateReport) error {
	step := Step{stepDefinitions, "Register the settings"}
	err := a.db.Tx(ctx, func(tx *addondb.DB) error {
		// Others who update, change the draft or publish wait.
		if err := tx.MakeDraft(ctx); err != nil {
			return err
		}
		if _, err := tx.LockDraft(ctx); err != nil {
			return err
		}
		if err := a.sameKeyFile(ctx, tx); err != nil {
			return err
		}
		now := todo{}
		if err := now.read(ctx, tx); err != nil {
			return err
		}
		acts := []struct {
			step Step
			act  func() error
		}{
			{step, func() error { return a.registerDefinitions(ctx, tx, now) }},
			{Step{stepSettings, "Publish the settings"}, func() error { return a.registerSettings(ctx, tx, actor, now) }},
			{Step{stepCredentials, "Create the first pair"}, func() error { return a.registerPair(ctx, tx, actor, now, report) }},
			{Step{stepSetup, "Take over the set-up link"}, func() error { return a.adoptSetupLink(ctx, tx, now) }},
			{Step{stepDefinitions, "Write down that the update ran"}, func() error { return a.noteUpdate(ctx, tx, actor, report) }},
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

func (a *Addon) registerDefinitions(ctx context.Context, tx *addondb.DB, t todo) error {
	for _, list := range [][]Definition{t.fresh, t.changed} {
		for _, d := range list {
			err := tx.PutDefinition(ctx, addondb.Definition{
				Name: d.Key, Kind: string(d.Type), Secret: d.Secret, Fallback: d.Default, RegisteredAt: a.timestamp(),
			})
			if err != nil {
				return err
			}
		}
	}
	for _, d := range t.unset {
		if err := tx.PutSetting(ctx, addondb.Setting{Name: d.Key, Kind: string(d.Type), Value: d.Default}); err != nil {
			return err
		}
	}
	if len(t.unset) == 0 || t.last.Number == 0 {
		return nil
	}
	return tx.RaiseRevision(ctx)
}

// registerSettings publishes the defaults of what is new beside what is served.
func (a *Addon) registerSettings(ctx context.Context, tx *addondb.DB, actor people.Actor, t todo) error {
	if len(t.unserved) == 0 {
		return nil
	}
	note := "Default settings, by the update"
	if t.last.Number > 0 {
		note = "New settings at their defaults, by the update"
	}
	next := a.newVersion(actor, t.last.Number+1, note, publishing{values: valuesOf(t.last.Settings.V)})
	if err := tx.AddVersion(ctx, next); err != nil {
		return err
	}
	return a.auditVersion(ctx, tx, actor, next)
}

func (a *Addon) registerPair(ctx context.Context, tx *addondb.DB, actor people.Actor, t todo, report *UpdateReport) error {
	if !t.pair {
		return nil
	}
	row, _, err := a.createCredential(ctx, tx, actor, firstPair)
	if err != nil {
		return err
	}
	created := credentialOf(row)
	report.Created = &created
	return nil
}

// noteUpdate writes down that the update ran, and tells other processes.
func (a *Addon) noteUpdate(ctx context.Context, tx *addondb.DB, actor people.Actor, report *UpdateReport) error {
	if err := tx.SetMeta(ctx, metaUpdated, a.timestamp().UTC().Format("2006-01-02T15:04:05Z")); err != nil {
		return err
	}
	for _, topic := range []string{addondb.TopicUpdate, addondb.TopicServed} {
		if err := tx.Mark(ctx, topic, ""); err != nil {
			return err
		}
	}
	return a.audit(ctx, tx, actor, people.Event{
		Action: "addon.update", Subject: "version " + a.options.Version, Detail: count(len(report.Steps), "step"),
	})
}

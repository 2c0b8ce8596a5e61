package addon

import (
	"context"
	"errors"
	"slices"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/people"
)

// metaNoIAP is the name under which the database keeps that the site does not sell
// in the app.
const metaNoIAP = "addon_no_iap"

// Task is a row of the set-up checklist.
type Task struct {
	// ID is stable: update, credentials, settings, iap, license.
	ID   string
	Text string
	Done bool
	// Declined tells of in-app purchases that the owner said not to sell any.
	Declined bool
	// Hint says what is missing, "" when it is done.
	Hint string
}

// Checklist lists what an owner has to do until the app works, in order. It works
// in every state.
func (a *Addon) Checklist(ctx context.Context, actor people.Actor) ([]Task, error) {
	if err := may(actor, manageSite); err != nil {
		return nil, err
	}
	state, err := a.look(ctx)
	if err != nil {
		return nil, err
	}
	list := []Task{
		task("update", "The update ran", state == StateReady, "Run the update: it sets everything up and makes the first API key and secret."),
		task("credentials", "API key and secret are active", false, "Both must be active; they are under API access once the update has run."),
		task("settings", "App settings are published", false, "Fill in the app settings and publish them."),
		task("iap", "In-app purchases are set up", false, "Fill in the in-app purchase settings and publish them, or say that you do not sell in the app."),
		task("license", "The license file is made", false, "Make it with your purchase code; the app opens it when it starts, so it goes into the app's project before it is built."),
	}
	if state != StateReady {
		return list, nil
	}
	plan, err := a.plan(ctx)
	if err != nil {
		return nil, err
	}
	if !plan.Nothing {
		list[0] = task("update", "An update is waiting", false, "Run the update: until then, what is new in this version is missing.")
	}
	return list, a.db.Snapshot(ctx, func(tx *addondb.DB) error { return a.tick(ctx, tx, list) })
}

func task(id, text string, done bool, hint string) Task {
	t := Task{ID: id, Text: text, Done: done}
	if !done {
		t.Hint = hint
	}
	return t
}

// tick marks what is done.
func (a *Addon) tick(ctx context.Context, tx *addondb.DB, list []Task) error {
	pairs, err1 := tx.Credentials(ctx)
	last, err2 := tx.LastVersion(ctx)
	packages, err3 := tx.Packages(ctx)
	accounts, err4 := readAccounts(ctx, tx)
	declined, err5 := tx.Meta(ctx, metaNoIAP)
	files, err6 := tx.Licenses(ctx)
	if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
		return err
	}
	v := valuesOf(last.Settings.V)
	done := map[string]bool{
		"credentials": slices.ContainsFunc(pairs, func(c addondb.Credential) bool { return credentialOf(c).Active() }),
		"settings":    last.Number > 1,
		"iap":         declined != "" || a.iapConfig(v, packages, accounts).Platforms.Store.Enabled,
		"license":     slices.ContainsFunc(files, func(l addondb.License) bool { return licenseOf(l, nil).Good() }),
	}
	for i := range list {
		list[i].Declined = list[i].ID == "iap" && declined != ""
		if done[list[i].ID] {
			list[i].Done, list[i].Hint = true, ""
		}
	}
	return nil
}

// DeclineIAP notes that the site does not sell in the app (or does after all), so
// that the checklist stops asking.
func (a *Addon) DeclineIAP(ctx context.Context, actor people.Actor, declined bool) error {
	if err := a.mayNow(actor, manageSettings); err != nil {
		return err
	}
	value := map[bool]string{true: "1"}[declined]
	return a.db.Tx(ctx, func(tx *addondb.DB) error {
		before, err := tx.LockMeta(ctx, metaNoIAP)
		if err != nil || before == value {
			return err
		}
		if err := tx.SetMeta(ctx, metaNoIAP, value); err != nil {
			return err
		}
		event := people.Event{Action: "iap.decline", Before: "sells in the app", After: "does not sell in the app"}
		if !declined {
			event = people.Event{Action: "iap.accept", Before: event.After, After: event.Before}
		}
		return a.audit(ctx, tx, actor, event)
	})
}

package setup

import (
	"context"
	"slices"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/people"
)

// Task is a row of the set-up checklist.
type Task struct {
	// ID is stable: update, credentials, settings, iap, license.
	ID   string
	Text string
	Done bool
	// Declined reports that the owner sells no in-app purchases.
	Declined bool
	// Hint describes what is missing, "" when it is done.
	Hint string
}

// Checklist lists what an owner has to do until the app works, in order. It works
// in every state.
func (s *Service) Checklist(ctx context.Context, actor people.Actor) ([]Task, error) {
	if err := access.May(actor, access.ManageSite); err != nil {
		return nil, err
	}
	state, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	list := []Task{
		task("update", "The update has run", state == access.StateReady, "Run the update. It sets everything up and creates the first API credentials."),
		task("credentials", "API credentials are active", false, "The API key and the API secret must both be active. Find them under “API access” after the update."),
		task("settings", "App settings are published", false, "Fill in the app settings and publish them."),
		task("iap", "In-app purchases are set up", false, "Fill in the in-app purchase settings and publish them, or say that you do not sell in the app."),
		task("license", "The license file is created", false, "Create it with your purchase code. Put it into the app's project before you build the app."),
	}
	if state != access.StateReady {
		return list, nil
	}
	plan, err := s.plan(ctx)
	if err != nil {
		return nil, err
	}
	if !plan.Nothing {
		list[0] = task("update", "An update is available", false, "Run the update to use what is new in this version.")
	}
	return list, s.tick(ctx, actor, list)
}

func task(id, text string, done bool, hint string) Task {
	t := Task{ID: id, Text: text, Done: done}
	if !done {
		t.Hint = hint
	}
	return t
}

// tick marks what is done.
func (s *Service) tick(ctx context.Context, actor people.Actor, list []Task) error {
	pairs, err := s.o.DB.Credentials(ctx)
	if err != nil {
		return err
	}
	published, err := s.o.Settings.Published(ctx)
	if err != nil {
		return err
	}
	view, err := s.o.IAP.Published(ctx)
	if err != nil {
		return err
	}
	declined, err := s.o.IAP.Declined(ctx, actor)
	if err != nil {
		return err
	}
	licensed, err := s.o.Licenses.HasGood(ctx)
	if err != nil {
		return err
	}
	done := map[string]bool{
		"credentials": slices.ContainsFunc(pairs, func(c addondb.Credential) bool { return c.KeyActive && c.SecretActive }),
		"settings":    published.Version > 1,
		"iap":         declined || view.Config.Platforms.Store.Enabled,
		"license":     licensed,
	}
	for i := range list {
		list[i].Declined = list[i].ID == "iap" && declined
		if done[list[i].ID] {
			list[i].Done, list[i].Hint = true, ""
		}
	}
	return nil
}

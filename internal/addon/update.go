package addon

import (
	"context"

	"github.com/countersign/countersign/internal/people"
)

// Step is something that an update does.
type Step struct {
	// ID is short and stable: backup, tables, key, definitions, settings,
	// credentials, setup.
	ID string `json:"id"`
	// Text says in a sentence what it does.
	Text string `json:"text"`
}

// Plan is what an update would do now.
type Plan struct {
	Steps []Step `json:"steps"`
	// Nothing tells that all is done: Steps is empty.
	Nothing bool `json:"nothing"`
	// Version of this build.
	Version string `json:"version"`
}

// UpdateReport is what an update did.
type UpdateReport struct {
	Plan
	// Backup is the path of the backup, "" when there was nothing to back up.
	Backup string `json:"backup,omitempty"`
	// Created is the first pair when this update made it: its id and label.
	Created *Credential `json:"-"`
}

// Plan says what an update would do. It writes nothing, and works without tables.
func (a *Addon) Plan(ctx context.Context, actor people.Actor) (Plan, error) {
	return Plan{}, errNotBuilt
}

// Update registers the settings and backend definitions: it makes or migrates the
// tables, registers what is new, publishes the defaults and makes the first pair
// of API key and secret, each where it is missing. It backs up what is there
// first. It can be run again at any time, also after it was killed; a second one
// at the same time is a conflict (update_running). progress is told of each step
// that is done; it may be nil. When a step fails, the settings stay what they were
// and the error says which step it was.
func (a *Addon) Update(ctx context.Context, actor people.Actor, progress func(Step)) (UpdateReport, error) {
	return UpdateReport{}, errNotBuilt
}

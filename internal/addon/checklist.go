package addon

import (
	"context"

	"github.com/countersign/countersign/internal/people"
)

// Task is a row of the set-up checklist.
type Task struct {
	// ID is stable: update, credentials, settings, iap.
	ID   string
	Text string
	Done bool
	// Hint says what is missing, "" when it is done.
	Hint string
}

// Checklist lists what an owner has to do until the app works, in order. It works
// in every state.
func (a *Addon) Checklist(ctx context.Context, actor people.Actor) ([]Task, error) {
	return nil, errNotBuilt
}

// DeclineIAP notes that the site does not sell in the app (or does after all), so
// that the checklist stops asking.
func (a *Addon) DeclineIAP(ctx context.Context, actor people.Actor, declined bool) error {
	return errNotBuilt
}

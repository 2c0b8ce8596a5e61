package addon

import (
	"context"

	"github.com/countersign/countersign/internal/people"
)

// AddKey adds a public setting of the owner's own to the draft. kind is
// [TypeText], [TypeBool] or [TypeNumber]. A name that is taken is a conflict
// (key_exists), one that can't be used is invalid with Fields "key" or "value".
func (a *Addon) AddKey(ctx context.Context, actor people.Actor, revision int64, key string, kind Type, value string) (Settings, error) {
	return Settings{}, errNotBuilt
}

// RemoveKey takes one of the owner's own keys out of the draft. The app loses it
// with the next publish.
func (a *Addon) RemoveKey(ctx context.Context, actor people.Actor, revision int64, key string) (Settings, error) {
	return Settings{}, errNotBuilt
}

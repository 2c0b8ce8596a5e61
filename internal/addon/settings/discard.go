package settings

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
)

// Discard sets settings of the draft back to what is published: the one with the key, or
// all when key is "". It returns the changes of the draft that are gone, none when there
// was nothing to discard. Errors:
//
//   - kind NotFound, code setting_not_found: neither the draft nor what is published has
//     the key;
//   - kind Conflict, code setting_name_taken: the draft has another key that differs from a
//     published one in letter case alone;
//   - kind Precondition, code settings_changed: somebody changed the draft.
//
// The Draft beside an error is what it is now.
func (s *Service) Discard(ctx context.Context, actor people.Actor, edit Edit, key string) (Draft, []Change, error) {
	var discarded []Change
	edit.action = access.ActionSettingsDiscard
	draft, err := s.changeDraft(ctx, actor, edit, func(tx *addondb.DB, now Draft, v values) error {
		last, err := tx.LastVersion(ctx)
		if err != nil {
			return err
		}
		published := valuesOf(last.Settings.V)
		if err := discardable(v, published, key); err != nil {
			return err
		}
		for _, c := range now.Changes {
			if key == "" || c.Key == key {
				v.restore(published, c.Key)
				discarded = append(discarded, c)
			}
		}
		return nil
	})
	if err != nil {
		return draft, nil, err
	}
	return draft, discarded, nil
}

// discardable returns an error unless the draft's value of a key, or of all for "", can be
// what is published.
func discardable(draft, published values, key string) error {
	if key == "" {
		return nil
	}
	_, drafted := draft.describe(key)
	_, served := published.describe(key)
	if !drafted && !served {
		return fault.NotFound("setting_not_found", "No setting with the key "+strconv.Quote(input.Shorten(key)))
	}
	for other := range draft {
		if served && other != key && strings.EqualFold(other, key) {
			return fault.Conflict("setting_name_taken", fmt.Sprintf("The draft has the key %s, which differs only in letter case. Discard or remove that one first", other))
		}
	}
	return nil
}

// restore sets one value to that of another state, which may not have it.
func (v values) restore(from values, key string) {
	if row, there := from[key]; there {
		v[key] = row
		return
	}
	delete(v, key)
}

package media

import (
	"context"
	"slices"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

// SetProfile puts an uploaded picture in a slot of a workspace's profile, in the place of what
// is there. The errors are those of [Service.SetItem].
func (s *Service) SetProfile(ctx context.Context, a people.Actor, username string, slot Slot, u Upload) (storedb.Workspace, error) {
	w, err := access.Workspace(ctx, s.db, a, username, access.Own)
	if err != nil {
		return storedb.Workspace{}, err
	}
	if !slices.Contains(ProfileSlots(), slot) {
		return storedb.Workspace{}, slot.unknown()
	}
	m, err := s.keep(ctx, w.ID, slot, u)
	if err != nil {
		return storedb.Workspace{}, err
	}
	w, err = s.changeProfile(ctx, a, username, slot, actionSetWorkspace, func(tx *storedb.DB, link *string, e *people.Event) error {
		*link, e.After = Path(m), uploaded{m, slot}.describe()
		return s.use(ctx, tx, m)
	})
	if err != nil {
		s.discard(ctx, m, err)
	}
	return w, err
}

// RemoveProfile leaves a slot of a workspace's profile empty. An empty one stays as it is.
func (s *Service) RemoveProfile(ctx context.Context, a people.Actor, username string, slot Slot) (storedb.Workspace, error) {
	if !slices.Contains(ProfileSlots(), slot) {
		return storedb.Workspace{}, slot.unknown()
	}
	return s.changeProfile(ctx, a, username, slot, actionRemoveWorkspace, func(_ *storedb.DB, link *string, _ *people.Event) error {
		*link = ""
		return nil
	})
}

// changeProfile changes what is in a slot of a profile, with its entry of the audit log, in one transaction.
func (s *Service) changeProfile(ctx context.Context, a people.Actor, username string, slot Slot, did people.Action, act func(*storedb.DB, *string, *people.Event) error) (w storedb.Workspace, err error) {
	if err := access.Somewhere(a, access.Own); err != nil {
		return storedb.Workspace{}, err
	}
	err = s.db.Tx(ctx, func(tx *storedb.DB) error {
		w, err = tx.LockWorkspace(ctx, username)
		if err == nil {
			err = access.In(ctx, tx, a, w.ID, access.Own, access.NoWorkspace(username))
		}
		if err != nil {
			w = storedb.Workspace{}
			return sqldb.IfNotFound(err, access.NoWorkspace(username))
		}
		link := profileLink(&w.Account.Profile, slot)
		e := people.Event{Action: did, Workspace: username, Subject: username, Detail: string(slot), Before: *link}
		if err := act(tx, link, &e); err != nil {
			return err
		}
		if err := tx.UpdateWorkspace(ctx, w); err != nil {
			return err
		}
		return people.Record(ctx, &tx.DB, s.now(), a, e)
	})
	return rules.WithFullName(w), err
}

package media

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

// SetItem puts an uploaded file in a slot of an item, in the place of what is there. The errors
// are of kind Invalid (media_type, media_pixels, media_damaged, media_empty, slot_kind), too
// large (body_too_large), Conflict (upload_quota, media_expired) and Unavailable (media_unavailable).
func (s *Service) SetItem(ctx context.Context, a people.Actor, item int64, slot Slot, u Upload) (storedb.Item, error) {
	i, err := s.db.Item(ctx, item)
	if err == nil {
		err = access.In(ctx, s.db, a, i.WorkspaceID, access.Manage, rules.NoItem(item))
	}
	if err == nil {
		err = slot.ofItem()
	}
	if err != nil {
		return storedb.Item{}, sqldb.IfNotFound(err, rules.NoItem(item))
	}
	if err := checkKind(i, slot); err != nil {
		return storedb.Item{}, err
	}
	m, err := s.keep(ctx, i.WorkspaceID, slot, u)
	if err != nil {
		return storedb.Item{}, err
	}
	i, err = s.changeItem(ctx, a, item, slot, actionSetItem, func(tx *storedb.DB, i *storedb.Item, e *people.Event) error {
		e.After = uploaded{m, slot}.describe()
		if slot == File {
			m.ItemID = item
			if err := tx.ReleaseItemFile(ctx, item); err != nil {
				return err
			}
		} else if err := checkKind(*i, slot); err != nil {
			return err
		} else {
			setItemAddress(i, slot, Path(m))
		}
		return s.use(ctx, tx, m)
	})
	if err != nil {
		s.discard(ctx, m, err)
	}
	return i, err
}

// RemoveItem leaves a slot of an item empty. An empty one stays as it is.
func (s *Service) RemoveItem(ctx context.Context, a people.Actor, item int64, slot Slot) (storedb.Item, error) {
	if err := slot.ofItem(); err != nil {
		return storedb.Item{}, err
	}
	return s.changeItem(ctx, a, item, slot, actionRemoveItem, func(tx *storedb.DB, i *storedb.Item, e *people.Event) error {
		if slot == File {
			return tx.ReleaseItemFile(ctx, item)
		}
		setItemAddress(i, slot, "")
		return nil
	})
}

// checkKind is an error of kind Invalid (slot_kind) for a slot that items of this kind do not have.
func checkKind(i storedb.Item, slot Slot) error {
	if slices.Contains(ItemSlots(i.Kind), slot) {
		return nil
	}
	return fault.Invalid("slot_kind", fmt.Sprintf("Items of the kind %s have no %s", i.Kind, strings.ReplaceAll(string(slot), "_", " ")))
}

// changeItem changes what is in a slot of an item, with its entry of the audit log, in one transaction.
func (s *Service) changeItem(ctx context.Context, a people.Actor, item int64, slot Slot, did people.Action, act func(*storedb.DB, *storedb.Item, *people.Event) error) (i storedb.Item, err error) {
	err = s.db.Tx(ctx, func(tx *storedb.DB) error {
		if i, err = tx.LockItem(ctx, item); err == nil {
			err = access.In(ctx, tx, a, i.WorkspaceID, access.Manage, rules.NoItem(item))
		}
		if err != nil {
			return sqldb.IfNotFound(err, rules.NoItem(item))
		}
		w, err := tx.WorkspaceByID(ctx, i.WorkspaceID)
		if err != nil {
			return err
		}
		e := people.Event{Action: did, Workspace: w.Account.Username, Subject: strconv.FormatInt(item, 10), Detail: string(slot), Before: ItemAddress(i, slot)}
		if err := act(tx, &i, &e); err != nil {
			return err
		}
		if err := rules.RenderItem(&i); err != nil {
			return err
		}
		if err := tx.UpdateItem(ctx, i); err != nil {
			return err
		}
		return people.Record(ctx, &tx.DB, s.now(), a, e)
	})
	return i, err
}

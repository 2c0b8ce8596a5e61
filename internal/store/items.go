package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Item is an item with all its media, also those its kind does not print.
type Item = storedb.Item

// Kind is the kind of an item.
type Kind = storedb.Kind

// The kinds of item.
const (
	KindAudio = storedb.KindAudio
	KindVideo = storedb.KindVideo
	KindOther = storedb.KindOther
)

// LacksPicture reports whether the API prints a default picture for an item.
func LacksPicture(i Item) bool { return rules.LacksPicture(i) }

// ListItems lists the items of a workspace by id.
func (s *Store) ListItems(ctx context.Context, a people.Actor, workspace string) ([]Item, error) {
	w, err := s.Workspace(ctx, a, workspace)
	if err != nil {
		return nil, err
	}
	return s.db.Items(ctx, w.ID)
}

// ShowItem reads one item of a workspace that the actor can see.
func (s *Store) ShowItem(ctx context.Context, a people.Actor, id int64) (Item, error) {
	item, err := s.db.Item(ctx, id)
	if err == nil {
		err = access.In(ctx, s.db, a, item.WorkspaceID, access.View, rules.NoItem(id))
	}
	if err != nil {
		return Item{}, sqldb.IfNotFound(err, rules.NoItem(id))
	}
	return item, nil
}

// NewItem returns an item of a workspace with the default values of its properties, without an id and a name.
func (s *Store) NewItem(w Workspace) Item {
	i := Item{WorkspaceID: w.ID, Kind: KindOther, Licensing: storedb.DefaultLicensing()}
	i.Currency, i.PublishedAt = w.Account.Currency, s.timestamp()
	return i
}

// CreateItem writes a new item by the rules of an import. describe sets its properties. An
// item without an id gets the next one, without a currency that of its workspace, and
// without a date it is published now. An id that is taken is a conflict (item_exists).
func (s *Store) CreateItem(ctx context.Context, a people.Actor, workspace string, describe func(*Item) error) (Item, error) {
	var i Item
	err := s.db.Tx(ctx, func(tx *storedb.DB) error {
		w, err := access.Workspace(ctx, tx, a, workspace, access.Manage)
		if err != nil {
			return err
		}
		i = s.NewItem(w)
		if err := describe(&i); err != nil {
			return err
		}
		chosen := i.ID
		if chosen == 0 {
			if i.ID, err = tx.NextItemIDs(ctx, 1); err != nil {
				return err
			}
		}
		if err := fault.All(rules.CheckNewID(chosen), checkNotes("", i), checkItem(&i)); err != nil {
			return err
		}
		err = tx.AddItem(ctx, i)
		if errors.Is(err, sqldb.ErrExists) {
			return fault.Conflict("item_exists", fmt.Sprintf("Item %d already exists. Ids are unique in the store", i.ID))
		}
		if err != nil {
			return err
		}
		if err := s.keepVersion(ctx, tx, a, i); err != nil {
			return err
		}
		return people.Record(ctx, &tx.DB, s.now(), a, people.Event{Action: actionCreateItem, Workspace: workspace, Subject: idText(i.ID), Detail: i.Name})
	})
	return i, err
}

// EditItem lets change alter the properties of an item, by the rules of an import.
// workspace is the username of its workspace. An item that stays as it is writes nothing. With the revision that the
// actor has seen, "" for none, the error is of kind Precondition (item_changed) when the item has changed since: the
// returned item is then the saved one.
func (s *Store) EditItem(ctx context.Context, a people.Actor, id int64, seen string, change func(i *Item, workspace string) error) (Item, error) {
	var i Item
	err := s.db.Tx(ctx, func(tx *storedb.DB) (err error) {
		i, err = s.editItem(ctx, tx, a, id, func(i *Item, workspace string) error {
			if seen != "" && ItemRevision(*i) != seen {
				return errItemChanged
			}
			return change(i, workspace)
		})
		return err
	})
	return i, ifChanged(err)
}

// editItem is EditItem in a transaction. It is errSame for an item that stays as it is, and
// writes nothing before an error about the item.
func (s *Store) editItem(ctx context.Context, tx *storedb.DB, a people.Actor, id int64, change func(i *Item, workspace string) error) (Item, error) {
	before, err := tx.LockItem(ctx, id)
	if err == nil {
		err = access.In(ctx, tx, a, before.WorkspaceID, access.Manage, rules.NoItem(id))
	}
	if err != nil {
		return Item{}, sqldb.IfNotFound(err, rules.NoItem(id))
	}
	w, err := tx.WorkspaceByID(ctx, before.WorkspaceID)
	if err != nil {
		return Item{}, err
	}
	i := before
	if err := change(&i, w.Account.Username); err != nil {
		return i, err
	}
	if i.ID != id {
		return i, fault.Invalid(fault.CodeInvalid, fmt.Sprintf("invalid id %d: the id of item %d can't be changed", i.ID, id))
	}
	if err := fault.All(checkNotes(before.Version, i), checkItem(&i)); err != nil {
		return i, err
	}
	e := people.Event{Action: actionEditItem, Workspace: w.Account.Username, Subject: idText(id)}
	if e.Before, e.After, err = describeItem(before, i); err != nil {
		return i, err
	}
	if e.After == "" {
		return i, errSame
	}
	if err := tx.UpdateItem(ctx, i); err != nil {
		return i, err
	}
	if err := s.keepVersion(ctx, tx, a, i); err != nil {
		return i, err
	}
	return i, people.Record(ctx, &tx.DB, s.now(), a, e)
}

// ItemRevision identifies the content of an item without its license rules.
func ItemRevision(i Item) string {
	return rules.Revision(struct {
		countersign.Item
		Kind    Kind
		Support bool
	}{i.Item, i.Kind, i.Support})
}

var errItemChanged = fault.New(countersign.KindPrecondition, "item_changed", "The item changed after you opened it. Nothing was saved. Check it and try again")

// checkItem returns what is wrong with an item that is to be written, as for a line of an
// import, and renders it.
func checkItem(i *Item) error {
	if err := fault.All(rules.CheckItem(*i), licensing.CheckRule(&i.Licensing)); err != nil {
		return err
	}
	return rules.RenderItem(i)
}

// CheckItem returns all that is wrong with what an item is to become. was is a new item when its id is 0; that one may
// stay without an id. It is public.
func CheckItem(was, to Item) error {
	var wrongID error
	if was.ID == 0 {
		wrongID, to.ID = rules.CheckNewID(to.ID), cmp.Or(to.ID, 1)
	}
	return fault.All(wrongID, checkNotes(was.Version, to), rules.CheckItem(to))
}

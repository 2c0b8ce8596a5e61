package store

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/storedb"
)

// ItemVersion is a version that an item has had, or has.
type ItemVersion = storedb.ItemVersion

const (
	// maxVersions is how many versions of an item a list has.
	maxVersions = 500
	// maxNotes is how many bytes the notes of a version have at most.
	maxNotes = 10_000
)

// ItemVersions lists the versions of an item, newest first, at most 500.
func (s *Store) ItemVersions(ctx context.Context, a people.Actor, item int64) ([]ItemVersion, error) {
	if _, err := s.ShowItem(ctx, a, item); err != nil {
		return nil, err
	}
	return s.db.ItemVersions(ctx, item, maxVersions)
}

// checkNotes returns what is wrong with the notes of an item that had another version, or this one.
func checkNotes(was countersign.Version, i Item) error {
	switch {
	case len(i.Notes) > maxNotes:
		return notesError("The notes are longer than 10,000 bytes")
	case i.Notes != "" && i.Version == was:
		return notesError("Notes belong to a new version. Change the version, too")
	}
	return nil
}

func notesError(text string) error {
	return fault.WithFields(fault.Invalid("invalid_notes", text), map[string]string{"notes": text})
}

// keepVersion notes the version of an item that was written, with its notes.
func (s *Store) keepVersion(ctx context.Context, tx *storedb.DB, a people.Actor, i Item) error {
	return tx.KeepVersion(ctx, i.ID, ItemVersion{At: s.timestamp(), Actor: a.ID, Notes: i.Notes})
}

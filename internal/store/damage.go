package store

import (
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/store/storedb"
)

// sameCode returns an error of kind Internal unless a purchase that was found by the
// digest of a folded code has that code. Another one is damage of the table or of its
// index: that two codes have one digest is less likely by far.
func (s *Store) sameCode(found, folded string, digest storedb.Digest) error {
	if found == folded || foldCode(found) == folded {
		return nil
	}
	s.damages.Add(1)
	return fault.WithCause(fault.New(countersign.KindInternal, "database_damaged", "The database is damaged: a purchase was found by the digest of another purchase code. Check the database, and restore the last backup"), fmt.Errorf("store: the purchase with the digest %d has another code", digest))
}

// Damages is how many purchases were found by the digest of another code since the
// start.
func (s *Store) Damages() int64 { return s.damages.Load() }

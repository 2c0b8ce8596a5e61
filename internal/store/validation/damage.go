package validation

import (
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

// SameCode returns an error of kind Internal unless a purchase that was found by the
// digest of a folded code has that code. Another one is damage of the table or of its
// index: that two codes have one digest is less likely by far.
func (v *Validator) SameCode(found, folded string, digest storedb.Digest) error {
	if found == folded || rules.FoldCode(found) == folded {
		return nil
	}
	v.damages.Add(1)
	return fault.WithCause(fault.New(countersign.KindInternal, "database_damaged", "The database is damaged: a purchase was found by the digest of another purchase code. Check the database, and restore the last backup"), fmt.Errorf("store: the purchase with the digest %d has another code", digest))
}

// Damages is how many purchases were found by the digest of another code since the
// start.
func (v *Validator) Damages() int64 { return v.damages.Load() }

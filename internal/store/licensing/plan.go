package licensing

import (
	"context"
	"errors"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/license"
	"github.com/google/uuid"
)

// errMeanwhile means that a purchase or its licenses are not as they were read.
var errMeanwhile = errors.New("licensing: the purchase has changed meanwhile")

// newLicense is a license that is to be written: a new one, or one that is in use
// and gets a wildcard.
type newLicense struct {
	storedb.License
	widens bool
}

// plan returns the purchase with a license for each of some domains, and those of
// them that are still to be written. It is refused when one of them is.
func (h purchaseLicenses) plan(domains []license.Domain, now countersign.Timestamp) (purchaseLicenses, []newLicense, error) {
	var fresh []newLicense
	for i, d := range domains {
		if _, found := h.find(d); found {
			continue
		}
		if err := h.checkLimit(d); err != nil {
			return h, nil, aboutTest(err, i > 0)
		}
		n := newLicense{}
		if n.License, n.widens = h.widens(d); n.widens {
			h = h.without(n.License)
			n.Wildcard = true
		} else {
			n.License = storedb.License{
				ID: uuid.Must(uuid.NewV7()).String(), PurchaseID: h.Purchase.ID, Domain: d.Name, Wildcard: d.Wildcard, Free: h.isFree(d), IssuedAt: now,
			}
		}
		h.Licenses = append(slices.Clip(h.Licenses), n.License)
		fresh = append(fresh, n)
	}
	return h, fresh, nil
}

// write writes new licenses if nothing has changed since h was read, else the error
// is errMeanwhile and the transaction must not be committed. Those of the operator
// take the place of those that were revoked.
func (h purchaseLicenses) write(ctx context.Context, tx *storedb.DB, fresh []newLicense) error {
	if !h.buyer && len(fresh) > 0 {
		if err := h.replaceRevoked(ctx, tx); err != nil {
			return err
		}
	}
	known := h.known
	for _, n := range fresh {
		var written bool
		var err error
		if n.widens {
			written, err = tx.WidenLicense(ctx, n.License)
		} else {
			written, err = tx.AddLicense(ctx, n.License, known)
			known++
		}
		if errors.Is(err, sqldb.ErrExists) || (err == nil && !written) {
			return errMeanwhile
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (h purchaseLicenses) replaceRevoked(ctx context.Context, tx *storedb.DB) error {
	for _, l := range h.Licenses {
		if l.Ended == storedb.EndingRevoked {
			if err := tx.EndLicense(ctx, l.ID, storedb.EndingReplaced, l.EndedAt); err != nil {
				return err
			}
		}
	}
	return nil
}

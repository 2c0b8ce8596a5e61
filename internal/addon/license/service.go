// Package license gets the license files of a site from the stores where its items were bought.
package license

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/dial"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
)

// Service is the licenses of a site. Its methods may be called from many goroutines.
type Service struct {
	db     *addondb.DB
	access *access.Control
	people *people.People
	stores *dial.Policy
	log    *slog.Logger
}

// New returns the licenses in a database. allowPrivate are the private networks in which a store
// may be.
func New(db *addondb.DB, control *access.Control, users *people.People, allowPrivate []netip.Prefix, log *slog.Logger) *Service {
	return &Service{db: db, access: control, people: users, stores: dial.New(allowPrivate), log: log}
}

// Close closes the connections to stores.
func (s *Service) Close() { s.stores.Client().CloseIdleConnections() }

// HasGood reports whether there is a file that can be used.
func (s *Service) HasGood(ctx context.Context) (bool, error) {
	files, err := s.db.Licenses(ctx)
	return slices.ContainsFunc(files, func(l addondb.License) bool { return licenseOf(l, nil).Good() }), err
}

// LostCodes lists the purchase codes that an old key file, nil when it is lost, can't open any
// more.
func LostCodes(ctx context.Context, db *addondb.DB, old *keyfile.Box) (lost []PurchaseCode, err error) {
	codes, err := db.PurchaseCodes(ctx)
	for _, c := range codes {
		if len(c.Sealed) > 0 && keyfile.Reseal(old, old, codePurpose(c.Hint), c.Sealed) == nil {
			lost = append(lost, purchaseCodeOf(c))
		}
	}
	return lost, err
}

// ResealCodes brings the purchase codes from an old key file, nil when it is lost, to a new one.
// The rows of codes that can't be opened stay only while licenses name them.
func ResealCodes(ctx context.Context, tx *addondb.DB, old, fresh *keyfile.Box) error {
	codes, err := tx.PurchaseCodes(ctx)
	if err != nil {
		return err
	}
	for _, c := range codes {
		sealed := keyfile.Reseal(old, fresh, codePurpose(c.Hint), c.Sealed)
		if sealed == nil {
			sealed = []byte{}
			if err := tx.DeleteUnusedCode(ctx, c.ID); err != nil {
				return err
			}
		}
		if err := tx.SetSealedCode(ctx, c.ID, sealed); err != nil {
			return err
		}
	}
	return nil
}

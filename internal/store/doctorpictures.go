package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/storedb"
)

// CheckedPictures is the name of the finding about items without a thumbnail or preview image.
const CheckedPictures = "item pictures"

// namedItems is how many items a finding names.
const namedItems = 5

// ItemsWithoutPicture returns the first items of the store for which the API prints a default
// picture: those that a finding of [Store.Health] names.
func (s *Store) ItemsWithoutPicture(ctx context.Context, a people.Actor) ([]storedb.PlacedItem, error) {
	if err := access.May(a, access.Administer); err != nil {
		return nil, err
	}
	_, first, err := s.db.ItemsWithoutPicture(ctx, namedItems)
	return first, err
}

// checkPictures lists items for which the API prints a default picture.
func (s *Store) checkPictures(ctx context.Context) health.Finding {
	const name, why = CheckedPictures, "Clients show the store's default picture for these items."
	count, first, err := s.db.ItemsWithoutPicture(ctx, namedItems)
	if err != nil {
		return health.Of(name, err, why, "Check the database.")
	}
	if count == 0 {
		return health.Finding{Name: name, Level: health.OK, What: "Every item has its pictures"}
	}
	what := "1 item has no thumbnail or preview image: "
	if count > 1 {
		what = fmt.Sprintf("%d items have no thumbnail or preview image: ", count)
	}
	if count > int64(len(first)) {
		what += "the first are "
	}
	return health.Finding{
		Name: name, Level: health.Warn, Why: why,
		What: what + strings.Join(sqldb.Convert(first, storedb.PlacedItem.String), ", "),
		Fix: "countersign store item edit ID --thumbnail URL --preview-image URL. " +
			"To list all of them: countersign store item list --without-picture",
	}
}

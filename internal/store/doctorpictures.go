package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/countersign/countersign/internal/health"
)

// namedItems is how many items a finding names.
const namedItems = 5

// checkPictures lists items for which the API prints a default picture.
func (s *Store) checkPictures(ctx context.Context) health.Finding {
	const name, why = "item pictures", "Clients show the store's default picture for these items."
	count, names, err := s.db.ItemsWithoutPicture(ctx, namedItems)
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
	if count > int64(len(names)) {
		what += "the first are "
	}
	return health.Finding{
		Name: name, Level: health.Warn, Why: why,
		What: what + strings.Join(names, ", "),
		Fix: "countersign store item edit ID --thumbnail URL --preview-image URL. " +
			"To list all of them: countersign store item list --without-picture",
	}
}

package rules

import (
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/store/storedb"
)

// NoItem is an error of kind NotFound about an item's id.
func NoItem(id int64) error {
	return fault.NotFound("item_not_found", fmt.Sprintf("No item %d", id))
}

// LacksPicture reports whether the API prints a default picture for an item: for the
// thumbnail, or for the preview image, which an audio item does not have.
func LacksPicture(i storedb.Item) bool {
	m := i.Media
	return m.Thumbnail == "" || i.Kind != storedb.KindAudio && (m.PreviewImage == nil || *m.PreviewImage == "")
}

// RenderItem returns the item's body: its media by the presence rules of spec 2.3.
func RenderItem(i *storedb.Item) error {
	printed := i.Item
	empty := ""
	present := func(p *string, is bool) *string {
		if !is {
			return nil
		}
		if p == nil {
			return &empty
		}
		return p
	}
	printed.Media.PreviewImage = present(i.Media.PreviewImage, i.Kind != storedb.KindAudio)
	printed.Media.PreviewVideo = present(i.Media.PreviewVideo, i.Kind == storedb.KindVideo)
	printed.Media.PreviewAudio = present(i.Media.PreviewAudio, i.Kind == storedb.KindAudio)
	body, err := countersign.EncodeJSON(printed)
	if err != nil {
		return fmt.Errorf("store: item %d: %w", i.ID, err)
	}
	i.Body = body
	return nil
}

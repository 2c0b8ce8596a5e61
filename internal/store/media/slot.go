package media

import (
	"fmt"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/wording"
)

// Slot is a place for an uploaded file. Those of items and of accounts are called as in the
// API (spec 2.2, 2.3).
type Slot string

// The slots of an item. File is what buyers download; it is private.
const (
	Thumbnail    Slot = "thumbnail"
	PreviewImage Slot = "preview_image"
	PreviewVideo Slot = "preview_video"
	PreviewAudio Slot = "preview_audio"
	File         Slot = "file"
)

// The slots of a workspace's profile.
const (
	Avatar Slot = "avatar"
	Cover  Slot = "cover"
)

// MaxSize is the size of the largest file of any slot, in bytes.
const MaxSize = 2 << 30

// limits are the sizes of the largest files, in bytes.
var limits = map[Kind]int64{
	KindPicture: 10 << 20, KindAudio: 50 << 20, KindVideo: 500 << 20, KindFile: MaxSize,
}

// ItemSlots are the slots that an item of a kind has (spec 2.3).
func ItemSlots(kind storedb.Kind) []Slot {
	switch kind {
	case storedb.KindAudio:
		return []Slot{Thumbnail, PreviewAudio, File}
	case storedb.KindVideo:
		return []Slot{Thumbnail, PreviewImage, PreviewVideo, File}
	}
	return []Slot{Thumbnail, PreviewImage, File}
}

// ProfileSlots are the slots of a workspace's profile.
func ProfileSlots() []Slot { return []Slot{Avatar, Cover} }

// Kind is what the slot takes.
func (s Slot) Kind() Kind {
	switch s {
	case PreviewVideo:
		return KindVideo
	case PreviewAudio:
		return KindAudio
	case File:
		return KindFile
	}
	return KindPicture
}

// Limit is the size of the largest file that the slot takes, in bytes.
func (s Slot) Limit() int64 { return limits[s.Kind()] }

// TooLarge is the error about a file that is larger than the slot's limit.
func (s Slot) TooLarge() error {
	return fault.New(countersign.KindTooLarge, countersign.CodeBodyTooLarge, "The file is larger than "+wording.Size(s.Limit())+". Nothing was saved")
}

// ofItem is an error of kind NotFound (slot_unknown) unless the slot is one of an item of any kind.
func (s Slot) ofItem() error {
	if !slices.Contains([]Slot{Thumbnail, PreviewImage, PreviewVideo, PreviewAudio, File}, s) {
		return s.unknown()
	}
	return nil
}

func (s Slot) unknown() error {
	return fault.NotFound("slot_unknown", fmt.Sprintf("No place for a file is called %q", s))
}

// ItemAddress is the address of what is in a slot of an item, "" for nothing. That of an
// uploaded file lacks the store's own. [File] has none.
func ItemAddress(i storedb.Item, s Slot) string {
	switch s {
	case File:
		return ""
	case Thumbnail:
		return i.Media.Thumbnail
	}
	if link := *preview(&i.Media, s); link != nil {
		return *link
	}
	return ""
}

// setItemAddress puts an address in a slot of an item, "" for nothing.
func setItemAddress(i *storedb.Item, s Slot, to string) {
	switch link := preview(&i.Media, s); {
	case s == Thumbnail:
		i.Media.Thumbnail = to
	case to == "":
		*link = nil
	default:
		*link = &to
	}
}

// preview is the member of an item's media for the slot of a preview.
func preview(m *countersign.ItemMedia, s Slot) **string {
	switch s {
	case PreviewVideo:
		return &m.PreviewVideo
	case PreviewAudio:
		return &m.PreviewAudio
	}
	return &m.PreviewImage
}

// ProfileAddress is the address of what is in a slot of a profile, "" for nothing.
func ProfileAddress(w storedb.Workspace, s Slot) string { return *profileLink(&w.Account.Profile, s) }

// profileLink is the member of a profile that has the address of what is in a slot.
func profileLink(p *countersign.Profile, s Slot) *string {
	if s == Cover {
		return &p.Media.Cover
	}
	return &p.Media.Avatar
}

package pages

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/media"
	"github.com/countersign/countersign/internal/wording"
)

// maxUpload is the size of the largest form with a file, in bytes. A slot takes less.
const maxUpload = media.MaxSize + 1<<20

// formLength is how much of a form is not its file, in bytes, at most.
const formLength = 4 << 10

// mediaSlot is a place for a file as a page shows it.
type mediaSlot struct {
	media.Slot
	label, lead, accept string
	// address is that of what is in it, "" for nothing.
	address string
	// file is what buyers download, in its own slot.
	file *media.UploadedFile
	errs frame.Errors
}

// slotTexts say what a slot is, and what it takes.
var slotTexts = map[media.Slot]mediaSlot{
	media.Thumbnail:    {label: "Thumbnail", lead: pictureRule},
	media.PreviewImage: {label: "Preview image", lead: pictureRule},
	media.PreviewVideo: {label: "Preview video", lead: "MP4 or WebM.", accept: "video/mp4,video/webm"},
	media.PreviewAudio: {label: "Preview audio", lead: "MP3, Ogg, WAV, FLAC or M4A.", accept: "audio/mpeg,audio/ogg,audio/wav,audio/flac,audio/mp4,.m4a"},
	media.File:         {label: "File for buyers", lead: "What buyers download by a link from the page of their purchase. It is not public. Any type."},
	media.Avatar:       {label: "Avatar", lead: pictureRule},
	media.Cover:        {label: "Cover", lead: pictureRule},
}

const (
	pictureRule   = "PNG, JPEG, GIF or WebP. The picture is written again without its metadata, such as place and camera."
	pictureAccept = "image/png,image/jpeg,image/gif,image/webp"
)

// slotOf is a slot with what is in it.
func slotOf(s media.Slot, address string) mediaSlot {
	m := slotTexts[s]
	m.Slot, m.address = s, address
	if m.lead == pictureRule {
		m.accept = pictureAccept
	}
	return m
}

func (m mediaSlot) empty() bool { return m.address == "" && m.file == nil }

// fileLabel asks for a file.
func (m mediaSlot) fileLabel() string {
	if m.empty() {
		return "Choose a file"
	}
	return "Replace with"
}

// mediaPage is what the page of uploaded files shows.
type mediaPage struct {
	// path is that of the page; those of its slots are below.
	path  string
	slots []mediaSlot
	usage media.Usage
}

// usageText says how much the workspace uploaded.
func (m mediaPage) usageText() string {
	if m.usage.Quota == 0 {
		return ""
	}
	return fmt.Sprintf(" The uploaded files of the workspace take %s of %s.", wording.Size(m.usage.Used), wording.Size(m.usage.Quota))
}

func (m mediaPage) slotPath(s mediaSlot, below string) string {
	return m.path + "/" + string(s.Slot) + below
}

// refused notes what was wrong with the file for a slot.
func (m mediaPage) refused(slot media.Slot, wrong frame.Errors) {
	for i, s := range m.slots {
		if s.Slot == slot {
			m.slots[i].errs = wrong
		}
	}
}

// itemMedia is the page of the files of an item.
func (p *Pages) itemMedia(r *frame.Request, ws store.WorkspaceRole, i store.Item) (mediaPage, error) {
	usage, err := p.store.Media.Usage(r.Context(), r.Actor, ws.ID)
	m := mediaPage{path: itemPath(ws, i.ID, "/media"), usage: usage}
	if err != nil {
		return m, err
	}
	for _, slot := range media.ItemSlots(i.Kind) {
		one := slotOf(slot, media.ItemAddress(i, slot))
		if slot == media.File {
			file, ok, err := p.store.Media.ItemFile(r.Context(), r.Actor, i.ID)
			if err != nil {
				return m, err
			}
			if ok {
				one.file = &file
			}
		}
		m.slots = append(m.slots, one)
	}
	return m, nil
}

func itemMediaPage(ws store.WorkspaceRole, i store.Item, m mediaPage) frame.Page {
	return frame.Page{Title: "Files of the item", Crumbs: itemCrumbs(ws, i), Lead: mediaRule + m.usageText(), Body: mediaView(m)}
}

func (p *Pages) showItemMedia(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, i store.Item) error {
	m, err := p.itemMedia(r, ws, i)
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, itemMediaPage(ws, i, m))
}

// toItemMedia is for the address of a form that somebody loads again.
func (p *Pages) toItemMedia(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, i store.Item) error {
	return p.frame.Redirect(w, r, itemPath(ws, i.ID, "/media"), "")
}

func (p *Pages) uploadItemMedia(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, i store.Item) error {
	slot := media.Slot(r.PathValue("slot"))
	if !slices.Contains(media.ItemSlots(i.Kind), slot) {
		return p.frame.NotFound(w, r)
	}
	refused := p.uploadMedia(w, r, slot, func(ctx context.Context, u media.Upload) error {
		_, err := p.store.Media.SetItem(ctx, r.Actor, i.ID, slot, u)
		return err
	})
	if refused == nil {
		return p.frame.Redirect(w, r, itemPath(ws, i.ID, "/media"), uploadedText(slot))
	}
	m, err := p.itemMedia(r, ws, i)
	if err != nil {
		return err
	}
	return p.refuseUpload(w, r, m, slot, refused, itemMediaPage(ws, i, m))
}

// uploadedText says that a file is there.
func uploadedText(slot media.Slot) string {
	return fmt.Sprintf("Uploaded: %s.", slotTexts[slot].label)
}

// uploadMedia reads a form with a file and hands the file on, while it arrives.
func (p *Pages) uploadMedia(w http.ResponseWriter, r *frame.Request, slot media.Slot, set func(context.Context, media.Upload) error) error {
	if r.ContentLength > slot.Limit()+formLength { // before any of it arrives
		return slot.TooLarge()
	}
	u, err := r.Upload(w, string(slot))
	if err != nil {
		return err
	}
	if u.File == nil {
		return fault.Invalid("file", "Choose a file.")
	}
	return set(r.Context(), media.Upload{Name: u.Name, Size: max(0, r.ContentLength-formLength), From: u.File})
}

// refuseUpload shows the page again with what was wrong with the file for a slot.
func (p *Pages) refuseUpload(w http.ResponseWriter, r *frame.Request, m mediaPage, slot media.Slot, refused error, page frame.Page) error {
	wrong, explained := frame.FormErrors(aboutFile(refused, string(slot)), string(slot))
	if !explained {
		return refused
	}
	m.refused(slot, wrong)
	return p.frame.Refuse(w, r, page, refused)
}

// removeMedia asks before what is in a slot is removed.
func (p *Pages) removeMedia(w http.ResponseWriter, r *frame.Request, path string, crumbs []frame.Link, remove func(media.Slot) error) error {
	slot := media.Slot(r.PathValue("slot"))
	text, known := slotTexts[slot]
	if !known {
		return p.frame.NotFound(w, r)
	}
	consequence := "Programs get the store's default picture, or none. An uploaded file stays at its address for a day, because apps may still show it, and is then deleted."
	if slot == media.File {
		consequence = "Links for buyers to download the file stop working at once. The file is deleted after a day."
	}
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Remove: " + text.label, Crumbs: append(crumbs, frame.Link{Label: "Files", Path: path}),
		Consequence: consequence, Path: path + "/" + string(slot) + "/remove", Label: "Remove", Cancel: path,
		Form: frame.Form{Do: func(url.Values) error {
			if err := remove(slot); err != nil {
				return err
			}
			return p.frame.Redirect(w, r, path, "Removed: "+text.label+".")
		}},
	})
}

func (p *Pages) removeItemMedia(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, i store.Item) error {
	return p.removeMedia(w, r, itemPath(ws, i.ID, "/media"), itemCrumbs(ws, i), func(slot media.Slot) error {
		_, err := p.store.Media.RemoveItem(r.Context(), r.Actor, i.ID, slot)
		return err
	})
}

package pages

import (
	"context"
	"net/http"
	"slices"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/media"
)

// pathProfileMedia is the page of the pictures of a profile, below its workspace.
const pathProfileMedia = "/settings/profile/media"

func (p *Pages) profileMedia(r *frame.Request, ws store.WorkspaceRole) (mediaPage, error) {
	usage, err := p.store.Media.Usage(r.Context(), r.Actor, ws.ID)
	m := mediaPage{path: workspacePath(ws.Account.Username, pathProfileMedia), usage: usage}
	for _, slot := range media.ProfileSlots() {
		m.slots = append(m.slots, slotOf(slot, media.ProfileAddress(ws.Workspace, slot)))
	}
	return m, err
}

func profileMediaPage(ws store.WorkspaceRole, m mediaPage) frame.Page {
	return frame.Page{Title: "Pictures of the profile", Crumbs: profileCrumbs(ws), Lead: "What programs show of the author." + m.usageText(), Body: mediaView(m)}
}

func profileCrumbs(ws store.WorkspaceRole) []frame.Link {
	return []frame.Link{workspaceCrumb(ws), {Label: profileForm.title, Path: workspacePath(ws.Account.Username, profileForm.below)}}
}

func (p *Pages) showProfileMedia(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	m, err := p.profileMedia(r, ws)
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, profileMediaPage(ws, m))
}

// toProfileMedia is for the address of a form that somebody loads again.
func (p *Pages) toProfileMedia(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	return p.frame.Redirect(w, r, workspacePath(ws.Account.Username, pathProfileMedia), "")
}

func (p *Pages) uploadProfileMedia(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	slot := media.Slot(r.PathValue("slot"))
	if !slices.Contains(media.ProfileSlots(), slot) {
		return p.frame.NotFound(w, r)
	}
	refused := p.uploadMedia(w, r, slot, func(ctx context.Context, u media.Upload) error {
		_, err := p.store.Media.SetProfile(ctx, r.Actor, ws.Account.Username, slot, u)
		return err
	})
	if refused == nil {
		return p.frame.Redirect(w, r, workspacePath(ws.Account.Username, pathProfileMedia), uploadedText(slot))
	}
	m, err := p.profileMedia(r, ws)
	if err != nil {
		return err
	}
	return p.refuseUpload(w, r, m, slot, refused, profileMediaPage(ws, m))
}

func (p *Pages) removeProfileMedia(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	return p.removeMedia(w, r, workspacePath(ws.Account.Username, pathProfileMedia), profileCrumbs(ws), func(slot media.Slot) error {
		_, err := p.store.Media.RemoveProfile(r.Context(), r.Actor, ws.Account.Username, slot)
		return err
	})
}

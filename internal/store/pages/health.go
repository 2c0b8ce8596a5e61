package pages

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/store"
)

func (p *Pages) showHealth(w http.ResponseWriter, r *frame.Request) error {
	findings, err := p.store.Health(r.Context(), r.Actor)
	if err != nil {
		return err
	}
	return p.frame.ShowHealth(w, r, frame.Health{
		Findings: findings, Path: pathHealth, Repair: repairLink,
		Links: func(f health.Finding) []frame.Link { return p.findingLinks(r, f) },
	})
}

// repairLink leads to the page that does what a command does; without a label there is none.
func repairLink(command string) frame.Link {
	if strings.HasPrefix(command, "countersign store audit ") {
		return frame.Link{Label: "Audit log", Path: pathAudit}
	}
	return frame.Link{}
}

// findingLinks lead to the items that a finding names.
func (p *Pages) findingLinks(r *frame.Request, f health.Finding) (links []frame.Link) {
	if f.Name != store.CheckedPictures || f.Level == health.OK {
		return nil
	}
	items, err := p.store.ItemsWithoutPicture(r.Context(), r.Actor)
	if err != nil {
		return nil // the finding says why
	}
	for _, i := range items {
		links = append(links, frame.Link{Label: i.Name, Path: workspacePath(i.Workspace, "/items/"+strconv.FormatInt(i.ID, 10)+"/media")})
	}
	return links
}

package pages

import (
	"net/http"
	"strings"

	"github.com/countersign/countersign/internal/frame"
)

func (p *Pages) showHealth(w http.ResponseWriter, r *frame.Request) error {
	findings, err := p.store.Health(r.Context(), r.Actor)
	if err != nil {
		return err
	}
	return p.frame.ShowHealth(w, r, frame.Health{Findings: findings, Path: pathHealth, Repair: repairLink})
}

// repairLink leads to the page that does what a command does; without a label there is none.
func repairLink(command string) frame.Link {
	if strings.HasPrefix(command, "countersign store audit ") {
		return frame.Link{Label: "Audit log", Path: pathAudit}
	}
	return frame.Link{}
}

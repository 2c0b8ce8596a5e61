package pages

import (
	"net/http"
	"strings"

	"github.com/countersign/countersign/internal/frame"
)

func (p *Pages) showHealth(w http.ResponseWriter, r *frame.Request) error {
	return p.frame.ShowHealth(w, r, frame.Health{Findings: p.addon.Health(r.Context()), Path: pathHealth, Crumbs: crumbs(), Repair: repairLink})
}

// repairLink leads to the page that does what a command does; without a label there is
// none.
func repairLink(command string) frame.Link {
	words := strings.Fields(command)
	if len(words) < 3 {
		return frame.Link{}
	}
	last := words[len(words)-1]
	switch what := strings.Join(words[1:], " "); {
	case what == "addon update":
		return frame.Link{Label: "Run the update", Path: PathUpdate}
	case strings.HasPrefix(what, "addon api activate "):
		return frame.Link{Label: "Activate it", Path: PathCredentials + "/" + last}
	case strings.HasPrefix(what, "addon iap service-account "):
		return frame.Link{Label: "Set the service account", Path: pathAccount}
	case strings.HasPrefix(what, "addon iap product add "):
		return frame.Link{Label: "Add a product", Path: pathIAP + "#" + groupID("Products")}
	case strings.HasPrefix(what, "addon package add "):
		return frame.Link{Label: "Add the package", Path: pathPackages + "/new"}
	case strings.HasPrefix(what, "addon iap set "):
		return frame.Link{Label: "Change the setting", Path: pathIAP + "#" + frame.FieldID(words[4])}
	case strings.HasPrefix(what, "addon settings set "):
		return frame.Link{Label: "Change the setting", Path: PathAppSettings + "#" + frame.FieldID(words[4])}
	case strings.HasPrefix(what, "addon audit "):
		return frame.Link{Label: "Audit log", Path: pathAudit}
	}
	return frame.Link{}
}

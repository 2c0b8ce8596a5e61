package pages

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/health"
)

func (p *Pages) showHealth(w http.ResponseWriter, r *frame.Request) error {
	all, groups := p.addon.Doctor(r.Context()), map[health.Level][]health.Finding{}
	for _, f := range all {
		groups[f.Level] = append(groups[f.Level], f)
	}
	return p.frame.Show(w, r, frame.Page{
		Title: "Health", Crumbs: crumbs(), Body: healthView(groups, report(all)),
		Lead:   "Results of the latest checks.",
		Action: frame.LinkButton{Link: frame.Link{Label: "Check again", Path: pathHealth, Icon: "refresh-cw"}, Kind: frame.Primary},
	})
}

// findingRows shows findings: what, why, and the repair.
func findingRows(all []health.Finding) (list frame.Checklist) {
	kinds := map[health.Level]frame.Kind{health.OK: frame.Good, health.Warn: frame.Warning, health.Fail: frame.Danger}
	for _, f := range all {
		c := frame.Check{Kind: kinds[f.Level], Title: f.What, Text: f.Why}
		if strings.HasPrefix(f.Fix, "countersign ") {
			c.Command, c.Action = f.Fix, repairLink(f.Fix)
		} else if f.Fix != "" {
			c.Text = strings.TrimSpace(frame.Sentence(f.Why) + " " + frame.Sentence(f.Fix))
		}
		list = append(list, c)
	}
	return list
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

// report is all findings as text, to be sent to somebody who helps.
func report(all []health.Finding) string {
	var b strings.Builder
	for _, f := range all {
		fmt.Fprintf(&b, "%-4s %s: %s\n", f.Level, f.Name, f.What)
		if f.Why != "" {
			fmt.Fprintf(&b, "     why: %s\n", f.Why)
		}
		if f.Fix != "" {
			fmt.Fprintf(&b, "     fix: %s\n", f.Fix)
		}
	}
	return b.String()
}

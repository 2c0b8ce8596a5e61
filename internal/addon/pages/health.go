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
			c.Command, c.Action = f.Fix, repairLink(f.Name)
		} else if f.Fix != "" {
			c.Text = strings.TrimSpace(frame.Sentence(f.Why) + " " + frame.Sentence(f.Fix))
		}
		list = append(list, c)
	}
	return list
}

// repairLink leads to the page that repairs what a check is about; without a
// label there is none.
func repairLink(check string) frame.Link {
	switch check {
	case "update":
		return frame.Link{Label: "Update", Path: PathUpdate}
	case "API credentials":
		return frame.Link{Label: "API access", Path: PathCredentials}
	case "app settings":
		return frame.Link{Label: "App settings", Path: PathAppSettings}
	case "in-app purchases":
		return frame.Link{Label: "In-app purchases", Path: pathIAP}
	case "service account":
		return frame.Link{Label: "Service account", Path: pathAccount}
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

package frame

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/countersign/countersign/internal/health"
)

// Health is the page of what the checks of a service found.
type Health struct {
	Findings []health.Finding
	Path     string
	Crumbs   []Link
	// Repair leads to the page that does what a command does; without a label there is none.
	Repair func(command string) Link
	// Links lead to what a finding is about. It may be nil.
	Links func(health.Finding) []Link
}

// rows shows findings with what they lead to.
func (h Health) rows(all []health.Finding) Checklist {
	list := FindingRows(all, h.Repair)
	for i, f := range all {
		if h.Links != nil {
			list[i].Links = h.Links(f)
		}
	}
	return list
}

// ShowHealth shows the page.
func (f *Frame) ShowHealth(w http.ResponseWriter, r *Request, h Health) error {
	groups := map[health.Level][]health.Finding{}
	for _, one := range h.Findings {
		groups[one.Level] = append(groups[one.Level], one)
	}
	return f.Show(w, r, Page{
		Title: "Health", Crumbs: h.Crumbs, Body: healthView(h, groups),
		Lead:   "Results of the latest checks.",
		Action: LinkButton{Link: Link{Label: "Check again", Path: h.Path, Icon: "refresh-cw"}, Kind: Primary},
	})
}

// FindingRows shows findings: what, why, and the repair.
func FindingRows(all []health.Finding, repair func(string) Link) (list Checklist) {
	kinds := map[health.Level]Kind{health.OK: Good, health.Warn: Warning, health.Fail: Danger}
	for _, f := range all {
		c := Check{Kind: kinds[f.Level], Title: f.What, Text: f.Why}
		if isCommand(f.Fix) {
			c.Command, c.Action = f.Fix, repair(f.Fix)
		} else if f.Fix != "" {
			c.Text = strings.TrimSpace(Sentence(f.Why) + " " + Sentence(f.Fix))
		}
		list = append(list, c)
	}
	return list
}

// isCommand reports whether a fix is a command for a terminal and not a sentence.
func isCommand(fix string) bool {
	return strings.HasPrefix(fix, "countersign ") || strings.HasPrefix(fix, "chmod ")
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

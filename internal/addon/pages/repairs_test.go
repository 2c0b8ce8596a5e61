package pages

import (
	"testing"

	"github.com/countersign/countersign/internal/addon/input"
)

// repairs are commands that problems and findings of doctor name, and what they lead to.
var repairs = map[string]string{
	"countersign addon update":             PathUpdate,
	"countersign addon api activate 2":     PathCredentials + "/2",
	"countersign addon audit verify":       pathAudit,
	"countersign addon setup-link":         "", // is for somebody who can't sign in yet
	"chmod 700 countersign-addon-data":     "",
	"countersign addon package add 9 NAME": pathPackages + "/new",
}

func TestRepairsLeadToAPage(t *testing.T) {
	for command, want := range repairs {
		if got := repairLink(command); got.Path != want || (got.Label == "") != (want == "") {
			t.Errorf("%s leads to %+v, want %s", command, got, want)
		}
	}
	for _, code := range input.ProblemCodes() {
		p := input.Problem{Code: code, Key: "iapStorePackageName", Package: 9}
		if link := repairLink(p.Command()); link.Label == "" || link.Path == "" {
			t.Errorf("%s: %s leads nowhere", code, p.Command())
		}
	}
}

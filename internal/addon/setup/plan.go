package setup

import (
	"fmt"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/fault"
)

// The steps of an update, in their order.
const (
	stepBackup      = "backup"
	stepTables      = "tables"
	stepKey         = "key"
	stepDefinitions = "definitions"
	stepSettings    = "settings"
	stepCredentials = "credentials"
	stepSetup       = "setup"
)

// Step is something that an update does.
type Step struct {
	// ID is short and stable: backup, tables, key, definitions, settings,
	// credentials, setup.
	ID string `json:"id"`
	// Text describes in a sentence what it does.
	Text string `json:"text"`
}

// CodeUpdateFailed is the code of an update that stopped for a reason that is not public.
const CodeUpdateFailed = "update_failed"

// stepFailed wraps the error of a step with its name. Details that are not public stay
// in the cause.
func stepFailed(step Step, err error) error {
	failed := fault.WithCause(fault.New(countersign.KindInternal, CodeUpdateFailed, ""), err)
	why := ""
	if apiErr := fault.Of(err); apiErr != nil {
		failed.Kind, failed.RetryAfter, why = apiErr.Kind, apiErr.RetryAfter, ": "+strings.TrimSuffix(apiErr.Message, ".")
		if apiErr.Code != "" {
			failed.Code = apiErr.Code
		}
	}
	failed.Message = fmt.Sprintf("The update stopped at the step %q%s. The settings did not change. Correct the cause, then run it again",
		strings.ToLower(step.Text[:1])+step.Text[1:], why)
	return failed
}

// Plan is what an update would do now.
type Plan struct {
	Steps []Step `json:"steps"`
	// Nothing reports that all is done: Steps is empty.
	Nothing bool `json:"nothing"`
	// Version of this build.
	Version string `json:"version"`
}

// Report is what an update did.
type Report struct {
	Plan
	// Backup is the path of the backup, "" when there was nothing to back up.
	Backup string `json:"backup,omitempty"`
	// Created is the first pair when this update made it, masked.
	Created *credential.Credential `json:"-"`
}

func (p *Plan) add(steps []Step) {
	for _, s := range steps {
		if s.Text != "" {
			p.Steps = append(p.Steps, s)
		}
	}
}

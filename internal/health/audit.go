package health

import (
	"fmt"
	"time"

	"github.com/countersign/countersign/internal/people"
)

// unsealedFor is how long entries of the audit log may wait for their seal.
const unsealedFor = time.Minute

// Audit turns a verification of the newest entries of the audit log into a finding.
// verify is the command that checks all entries.
func Audit(r people.AuditReport, err error, now time.Time, verify string) Finding {
	const name = "audit log"
	switch {
	case err != nil:
		return Of(name, err, "Changes to the audit log would not be noticed.", "Correct the cause, then check again.")
	case !r.Intact():
		what := "The audit log was tampered with: " + r.Problems[0].Text
		if more := len(r.Problems) - 1; more > 0 {
			what += fmt.Sprintf(" (and %d more problems)", more)
		}
		return Finding{name, Fail, what, "Somebody with access to the database may have hidden what they did.", "List all problems with: " + verify}
	case r.Waiting > 0 && now.Sub(r.WaitingSince) > unsealedFor:
		return Finding{name, Warn, fmt.Sprintf("%d entries of the audit log are not sealed yet", r.Waiting),
			"Until then they can be changed unnoticed.", "Start the server: it seals them in the background."}
	}
	return good(name, fmt.Sprintf("The newest %d entries of the audit log are unchanged", r.Checked))
}

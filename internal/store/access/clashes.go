package access

import (
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/limit"
	"github.com/countersign/countersign/internal/people"
)

// A code that another workspace has is refused, which reveals that it exists. So each workspace can
// try maxClashes of them in clashTime.
const (
	maxClashes = 100
	clashTime  = time.Hour
)

// Clashes counts, by workspace, the purchase codes that were refused because another workspace has
// them, also for other servers on the database. Administrators see all codes: theirs are not counted.
type Clashes struct{ *limit.Texts }

// NewClashes returns a count of nothing.
func NewClashes(now func() time.Time) *Clashes {
	return &Clashes{limit.NewTexts("code-clash", maxClashes, clashTime, limit.PlainName, now)}
}

// Check is an error (code_clashes, conflict) when there were too many. Then also codes that nobody
// has are refused.
func (c *Clashes) Check(a people.Actor, workspace string) error {
	if May(a, Administer) == nil || c.Allows(workspace) {
		return nil
	}
	return errClashes
}

// Take counts one, or is the error of [Clashes.Check].
func (c *Clashes) Take(a people.Actor, workspace string) error {
	if May(a, Administer) == nil || c.Texts.Take(workspace) {
		return nil
	}
	return errClashes
}

var errClashes = fault.Conflict("code_clashes", "Nothing was written. This workspace has tried too many purchase codes of other workspaces: wait an hour, or ask an administrator of the store")

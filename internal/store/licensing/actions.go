package licensing

import "github.com/countersign/countersign/internal/people"

// What the licensing writes into the audit log.
const (
	actionIssue     people.Action = "license.issue"
	actionMove      people.Action = "license.move"
	actionRevoke    people.Action = "license.revoke"
	actionRotateKey people.Action = "license_key.rotate"
	actionSetRule   people.Action = "item.licensing"
)

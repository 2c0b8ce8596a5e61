package store

import "github.com/countersign/countersign/internal/people"

// What this package writes into the audit log.
const (
	actionCreateWorkspace people.Action = "workspace.create"
	actionSetWorkspace    people.Action = "workspace.set"
	actionCreateKey       people.Action = "key.create"
	actionRevealKey       people.Action = "key.reveal"
	actionRotateKey       people.Action = "key.rotate"
	actionRevokeKey       people.Action = "key.revoke"
	actionExpireKey       people.Action = "key.expire"
	actionCreatePurchase  people.Action = "purchase.create"
	actionRefundPurchase  people.Action = "purchase.refund"
	actionRekey           people.Action = "store.rekey"
	actionAcceptLoss      people.Action = "store.accept_loss"
)

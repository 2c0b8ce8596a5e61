package store

import (
	"slices"

	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/media"
	"github.com/countersign/countersign/internal/store/transfer"
)

// What this package writes into the audit log: noun.verb.
const (
	actionCreateWorkspace    people.Action = "workspace.create"
	actionSetWorkspace       people.Action = "workspace.set"
	actionCreateKey          people.Action = "key.create"
	actionRevealKey          people.Action = "key.reveal"
	actionRotateKey          people.Action = "key.rotate"
	actionRevokeKey          people.Action = "key.revoke"
	actionRestoreKey         people.Action = "key.restore"
	actionExpireKey          people.Action = "key.expire"
	actionUseKey             people.Action = "key.use"
	actionCreateItem         people.Action = "item.create"
	actionEditItem           people.Action = "item.edit"
	actionCreatePurchase     people.Action = "purchase.create"
	actionRefundPurchase     people.Action = "purchase.refund"
	actionChargeBackPurchase people.Action = "purchase.charge_back"
	actionRevokePurchase     people.Action = "purchase.revoke"
	actionRestorePurchase    people.Action = "purchase.restore"
	actionSetPurchase        people.Action = "purchase.set"
	actionInviteMember       people.Action = "member.invite"
	actionWithdrawInvite     people.Action = "member.withdraw_invitation"
	actionAddMember          people.Action = "member.add"
	actionSetMember          people.Action = "member.set"
	actionRemoveMember       people.Action = "member.remove"
)

// Actions lists the actions that a store's audit log may hold.
func Actions() []people.Action {
	return slices.Concat([]people.Action{
		actionCreateWorkspace, actionSetWorkspace,
		actionCreateKey, actionRevealKey, actionRotateKey, actionRevokeKey, actionRestoreKey, actionExpireKey, actionUseKey,
		actionCreateItem, actionEditItem,
		actionCreatePurchase, actionRefundPurchase, actionChargeBackPurchase, actionRevokePurchase, actionRestorePurchase, actionSetPurchase,
		actionInviteMember, actionWithdrawInvite, actionAddMember, actionSetMember, actionRemoveMember,
	}, instance.Actions(keyfile.Store), backup.Actions(), people.Actions(), licensing.Actions(), media.Actions(), transfer.Actions())
}

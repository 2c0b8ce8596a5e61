package pages

import (
	"net/http"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/people"
)

// auditNouns are what the log can be narrowed to.
var auditNouns = frame.AuditNouns(
	frame.Choice{Value: "settings", Label: "Settings and publishing"},
	frame.Choice{Value: "iap", Label: "In-app purchases"},
	frame.Choice{Value: "package", Label: "Packages"},
	frame.Choice{Value: "purchase", Label: "Purchases in the app"},
	frame.Choice{Value: "simulator", Label: "Simulated store"},
	frame.Choice{Value: "customer", Label: "Merged and erased customers"},
	frame.Choice{Value: "grant", Label: "Manual memberships"},
	frame.Choice{Value: "alert", Label: "Alerts about purchases"},
	frame.Choice{Value: "credential", Label: "API credentials"},
	frame.Choice{Value: "license", Label: "License files"},
	frame.Choice{Value: "store", Label: "Store of the licenses"},
	frame.Choice{Value: "addon", Label: "Updates"},
	frame.Choice{Value: "update_token", Label: "Tokens for the update"},
	frame.Choice{Value: "webhook", Label: "Webhooks"},
	frame.Choice{Value: "backup", Label: "Backups"},
)

// acts says in words what the actions of the log are.
var acts = frame.AuditWords(map[people.Action]string{
	"settings.set": "Changed a setting in the draft", "settings.add": "Added a key to the draft", "settings.remove": "Removed a key from the draft",
	"settings.discard": "Discarded a change of the draft", "settings.publish": "Published the settings", "settings.rollback": "Restored a version",
	"iap.decline": "Turned in-app purchases off in the checklist", "iap.accept": "Turned in-app purchases on in the checklist",
	"package.add": "Added a package", "package.update": "Changed a package", "package.remove": "Removed a package",
	"credential.create": "Created API credentials", "credential.reveal": "Revealed API credentials", "credential.rotate": "Rotated API credentials",
	"credential.activate": "Activated API credentials", "credential.deactivate": "Deactivated API credentials",
	"credential.rename": "Renamed API credentials", "credential.delete": "Deleted API credentials", "credential.dismiss": "Dismissed the warning about API credentials",
	"grant.add": "Granted a membership", "grant.end": "Ended a manual membership", "alert.dismiss": "Dismissed an alert about purchases",
	"purchase.transfer": "Transferred a purchase", "purchase.import": "Imported subscribers", "purchase.refuse": "Refused a purchase to a user", "purchase.cancel": "Cancelled a subscription in the store",
	"purchase.review": "Answered a chargeback review",
	"purchase.revoke": "Revoked a subscription in the store", "purchase.refund": "Refunded an order in the store",
	"simulator.buy": "Bought in the simulated store", "simulator.act": "Changed a purchase in the simulated store", "simulator.clear": "Cleared the simulated store",
	"purchase.defer": "Deferred a renewal in the store", "customer.merge": "Merged two customers", "customer.erase": "Erased a customer",
	"store.set": "Changed the license store's address", "license.make": "Created a license file", "license.move": "Moved a license to another domain", "license.check": "Verified a license with the store",
	"license.revoke": "Revoked a license", "license.forget": "Removed a license file from the list", "license.forget_code": "Deleted a purchase code",
	"addon.update": "Ran the update", "addon.accept_loss": "Accepted missing commits", "addon.rekey": "Created a new key file", "backup.create": "Created a backup", "backup.restore": "Restored a backup", "backup.schedule": "Changed the schedule of backups", "update_token.create": "Created a token for the update page", "user.create": "Created an administrator", "user.invite": "Invited an administrator", "user.rename": "Changed an administrator's e-mail",
	"addon.move":  "Moved the addon to another database",
	"webhook.add": "Added a webhook", "webhook.edit": "Changed a webhook", "webhook.pause": "Paused a webhook", "webhook.resume": "Resumed a webhook",
	"webhook.reveal": "Revealed a webhook secret", "webhook.rotate": "Rotated a webhook secret", "webhook.remove": "Removed a webhook",
	"webhook.ping": "Sent a test event", "webhook.replay": "Sent events again",
	"user.deactivate": "Deactivated an administrator", "user.activate": "Activated an administrator", "user.remove": "Removed an administrator",
})

func (p *Pages) auditLog() frame.AuditLog {
	return frame.AuditLog{
		Log: p.addon.Instance.Audit, Path: pathAudit, Crumbs: crumbs(), Nouns: auditNouns, Words: acts,
		Lead: "All changes by pages, command line and API: who, what, when and from where.",
	}
}

func (p *Pages) showAudit(w http.ResponseWriter, r *frame.Request) error {
	return p.frame.ShowAudit(w, r, p.auditLog())
}

func (p *Pages) exportAudit(format people.AuditFormat) frame.Handler {
	return func(w http.ResponseWriter, r *frame.Request) error {
		return p.frame.ExportAudit(w, r, p.auditLog(), format)
	}
}

// Package access has the checks that all services of the addon run first: permission,
// set-up state and key file.
package access

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// Permission is something that not every actor may do.
type Permission int

// The permissions.
const (
	// ManageSettings reads, changes and publishes settings and packages: users,
	// the operator, and programs that hold the site's API key and secret.
	ManageSettings Permission = iota
	// ReadEvents reads the feed of events: those who may do ManageSettings.
	ReadEvents
	// ManageMembers reads and changes memberships and purchases: those who may manage
	// settings.
	ManageMembers
	// ActForUsers says who of the site's users an app speaks for: the operator, and programs
	// that hold the site's API key and secret. A session of an administrator is not enough.
	ActForUsers
	// ManageSite is everything else: users and the operator.
	ManageSite
	// Operate creates links and tokens that open the site: the operator alone.
	Operate
)

// May returns an error of kind Forbidden unless an actor has a permission.
func May(a people.Actor, what Permission) error {
	allowed := false
	switch a.Kind {
	case people.KindOperator:
		allowed = true
	case people.KindUser:
		allowed = a.Administrator && what != Operate && what != ActForUsers
	case people.KindKey:
		allowed = (what == ManageSettings || what == ReadEvents || what == ManageMembers || what == ActForUsers) && a.Secret
	}
	if allowed {
		return nil
	}
	return fault.Forbidden("not_allowed", "Not allowed. A program with API credentials may read, change and publish settings")
}

// Control is the gate of an addon, with what its services check and write in each act. Its
// methods may be called from many goroutines.
type Control struct {
	*instance.Gate
	Now func() time.Time
}

// May returns an error unless an actor has a permission and the addon is ready.
func (c *Control) May(a people.Actor, what Permission) error {
	if err := May(a, what); err != nil {
		return err
	}
	return c.Ready()
}

// Timestamp is the present time for the database.
func (c *Control) Timestamp() sqldb.Time { return sqldb.Time{Time: c.Now()} }

// The actions that the addon's own services write into the audit log: noun.verb.
const (
	ActionSettingsSet          people.Action = "settings.set"
	ActionSettingsAdd          people.Action = "settings.add"
	ActionSettingsRemove       people.Action = "settings.remove"
	ActionSettingsDiscard      people.Action = "settings.discard"
	ActionSettingsPublish      people.Action = "settings.publish"
	ActionSettingsRollback     people.Action = "settings.rollback"
	ActionIAPDecline           people.Action = "iap.decline"
	ActionIAPAccept            people.Action = "iap.accept"
	ActionPackageAdd           people.Action = "package.add"
	ActionPackageUpdate        people.Action = "package.update"
	ActionPackageRemove        people.Action = "package.remove"
	ActionCredentialCreate     people.Action = "credential.create"
	ActionCredentialReveal     people.Action = "credential.reveal"
	ActionCredentialRotate     people.Action = "credential.rotate"
	ActionCredentialActivate   people.Action = "credential.activate"
	ActionCredentialDeactivate people.Action = "credential.deactivate"
	ActionCredentialRename     people.Action = "credential.rename"
	ActionCredentialDelete     people.Action = "credential.delete"
	ActionCredentialDismiss    people.Action = "credential.dismiss"
	ActionStoreSet             people.Action = "store.set"
	ActionGrantAdd             people.Action = "grant.add"
	ActionGrantEnd             people.Action = "grant.end"
	ActionAlertDismiss         people.Action = "alert.dismiss"
	ActionPurchaseReview       people.Action = "purchase.review"
	ActionPurchaseTransfer     people.Action = "purchase.transfer"
	ActionPurchaseRefuse       people.Action = "purchase.refuse"
	ActionPurchaseImport       people.Action = "purchase.import"
	ActionPurchaseCancel       people.Action = "purchase.cancel"
	ActionPurchaseRevoke       people.Action = "purchase.revoke"
	ActionPurchaseRefund       people.Action = "purchase.refund"
	ActionSimulatorBuy         people.Action = "simulator.buy"
	ActionSimulatorAct         people.Action = "simulator.act"
	ActionSimulatorClear       people.Action = "simulator.clear"
	ActionPurchaseDefer        people.Action = "purchase.defer"
	ActionCustomerMerge        people.Action = "customer.merge"
	ActionCustomerErase        people.Action = "customer.erase"
	ActionLicenseMake          people.Action = "license.make"
	ActionLicenseMove          people.Action = "license.move"
	ActionLicenseRevoke        people.Action = "license.revoke"
	ActionLicenseCheck         people.Action = "license.check"
	ActionLicenseForget        people.Action = "license.forget"
	ActionLicenseForgetCode    people.Action = "license.forget_code"
	ActionAddonUpdate          people.Action = "addon.update"
	ActionUpdateTokenCreate    people.Action = "update_token.create"
	ActionWebhookAdd           people.Action = "webhook.add"
	ActionWebhookEdit          people.Action = "webhook.edit"
	ActionWebhookPause         people.Action = "webhook.pause"
	ActionWebhookResume        people.Action = "webhook.resume"
	ActionWebhookReveal        people.Action = "webhook.reveal"
	ActionWebhookRotate        people.Action = "webhook.rotate"
	ActionWebhookRemove        people.Action = "webhook.remove"
	ActionWebhookPing          people.Action = "webhook.ping"
	ActionWebhookReplay        people.Action = "webhook.replay"
)

// actions are all of them, a line for each noun.
var actions = []people.Action{
	ActionSettingsSet, ActionSettingsAdd, ActionSettingsRemove, ActionSettingsDiscard, ActionSettingsPublish, ActionSettingsRollback,
	ActionIAPDecline, ActionIAPAccept,
	ActionPackageAdd, ActionPackageUpdate, ActionPackageRemove,
	ActionCredentialCreate, ActionCredentialReveal, ActionCredentialRotate, ActionCredentialActivate, ActionCredentialDeactivate,
	ActionCredentialRename, ActionCredentialDelete, ActionCredentialDismiss,
	ActionStoreSet,
	ActionSimulatorBuy, ActionSimulatorAct, ActionSimulatorClear,
	ActionPurchaseTransfer, ActionPurchaseRefuse, ActionPurchaseImport, ActionPurchaseCancel, ActionPurchaseRevoke, ActionPurchaseRefund, ActionPurchaseDefer,
	ActionCustomerMerge, ActionCustomerErase,
	ActionGrantAdd, ActionGrantEnd, ActionAlertDismiss, ActionPurchaseReview,
	ActionLicenseMake, ActionLicenseMove, ActionLicenseRevoke, ActionLicenseCheck, ActionLicenseForget, ActionLicenseForgetCode,
	ActionAddonUpdate,
	ActionUpdateTokenCreate,
	ActionWebhookAdd, ActionWebhookEdit, ActionWebhookPause, ActionWebhookResume, ActionWebhookReveal, ActionWebhookRotate,
	ActionWebhookRemove, ActionWebhookPing, ActionWebhookReplay,
}

// Actions lists the actions that an addon's audit log may hold, for front ends that have
// words for them.
func Actions() []people.Action {
	return slices.Concat(people.Actions(), backup.Actions(), instance.Actions(keyfile.Addon), actions)
}

// Audit writes an entry of the audit log in the transaction of what it describes. An
// action that is not in the list is an error.
func (c *Control) Audit(ctx context.Context, tx *addondb.DB, actor people.Actor, e people.Event) error {
	if !slices.Contains(actions, e.Action) {
		return fmt.Errorf("addon: the action %q is not in the list of actions", e.Action)
	}
	return people.Record(ctx, &tx.DB, c.Now(), actor, e)
}

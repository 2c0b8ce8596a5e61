package access

import (
	"context"
	"fmt"
	"slices"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/people"
)

// The actions that the addon's own services write into the audit log: noun.verb.
const (
	ActionSettingsSet          people.Action = "settings.set"
	ActionSettingsAdd          people.Action = "settings.add"
	ActionSettingsRemove       people.Action = "settings.remove"
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
	ActionStoreSet             people.Action = "store.set"
	ActionLicenseMake          people.Action = "license.make"
	ActionLicenseMove          people.Action = "license.move"
	ActionLicenseRevoke        people.Action = "license.revoke"
	ActionLicenseCheck         people.Action = "license.check"
	ActionLicenseForget        people.Action = "license.forget"
	ActionLicenseForgetCode    people.Action = "license.forget_code"
	ActionAddonUpdate          people.Action = "addon.update"
	ActionAddonAcceptLoss      people.Action = "addon.accept_loss"
	ActionUpdateTokenCreate    people.Action = "update_token.create"
)

// actions are all of them.
var actions = []people.Action{
	ActionSettingsSet,
	ActionSettingsAdd,
	ActionSettingsRemove,
	ActionSettingsPublish,
	ActionSettingsRollback,
	ActionIAPDecline,
	ActionIAPAccept,
	ActionPackageAdd,
	ActionPackageUpdate,
	ActionPackageRemove,
	ActionCredentialCreate,
	ActionCredentialReveal,
	ActionCredentialRotate,
	ActionCredentialActivate,
	ActionCredentialDeactivate,
	ActionStoreSet,
	ActionLicenseMake,
	ActionLicenseMove,
	ActionLicenseRevoke,
	ActionLicenseCheck,
	ActionLicenseForget,
	ActionLicenseForgetCode,
	ActionAddonUpdate,
	ActionAddonAcceptLoss,
	ActionUpdateTokenCreate,
}

// Actions lists the actions that an addon's audit log may hold, for front ends that have
// words for them.
func Actions() []people.Action { return append(people.Actions(), actions...) }

// Audit writes an entry of the audit log in the transaction of what it describes. An
// action that is not in the list is an error.
func (g *Guard) Audit(ctx context.Context, tx *addondb.DB, actor people.Actor, e people.Event) error {
	if !slices.Contains(actions, e.Action) {
		return fmt.Errorf("addon: the action %q is not in the list of actions", e.Action)
	}
	return people.Record(ctx, &tx.DB, g.Now(), actor, e)
}

package access

import (
	"context"
	"fmt"
	"slices"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/people"
)

// acts are all that the addon's own rules write into the audit log.
var acts = []string{
	"settings.set", "settings.add", "settings.remove", "settings.publish", "settings.rollback", "iap.decline", "iap.accept",
	"package.add", "package.update", "package.remove",
	"credential.create", "credential.reveal", "credential.rotate", "credential.activate", "credential.deactivate",
	"store.set", "license.make", "license.move", "license.revoke", "license.check", "license.forget", "license.forget_code", "addon.update", "addon.accept_loss", "update_token.create",
}

// Acts lists the actions that an addon's audit log may hold, for front ends that have
// words for them.
func Acts() []string { return append(people.Acts(), acts...) }

// Audit writes an entry of the audit log in the transaction of the act.
func (g *Guard) Audit(ctx context.Context, tx *addondb.DB, actor people.Actor, e people.Event) error {
	if !slices.Contains(acts, e.Action) {
		return fmt.Errorf("addon: the act %q is not in the list of acts", e.Action)
	}
	return people.Record(ctx, &tx.DB, g.Now(), actor, e)
}

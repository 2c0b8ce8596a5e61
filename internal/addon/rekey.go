package addon

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/license"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/addon/simulator"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/wording"
)

// RekeyPlan describes what a new key file would cost: the values that the old one can't
// open any more, or nothing when that is there.
type RekeyPlan struct {
	instance.Lost
	// Credentials lose their API key and API secret, and refuse every call until they
	// are rotated.
	Credentials []credential.Credential
	// Accounts are service accounts, of the draft and of all versions, whose file has to be
	// set again before apps can buy.
	Accounts []iap.ServiceAccountFacts
	// Codes are stored purchase codes. They have to be entered again to check, move or
	// revoke their licenses; the license files stay.
	Codes []license.PurchaseCode
	// Webhooks are paused until their secret is rotated.
	Webhooks []events.Webhook
	// Purchases are the ids of purchases in the app whose tokens are lost. Their members
	// keep access until the paid time ends; apps restore them.
	Purchases []string
	// Queued is how many verifications that the store has not answered yet are lost. Their apps verify again.
	Queued int
	// Simulator reports that the simulated store forgets its purchases and begins anew.
	Simulator bool
}

// Nothing reports that nothing would be deleted.
func (p RekeyPlan) Nothing() bool {
	return !p.Simulator && p.BackupPlace == "" && p.Queued == 0 && len(p.Credentials)+len(p.Accounts)+len(p.Codes)+len(p.Webhooks)+len(p.Purchases)+len(p.Users) == 0
}

// PlanRekey returns what Rekey would drop. It needs no key file, and no update that ran to
// its end. Without tables of this version it returns an error (update_needed, schema_newer).
func (a *Addon) PlanRekey(ctx context.Context) (RekeyPlan, error) {
	if err := a.rekeyable(ctx); err != nil {
		return RekeyPlan{}, err
	}
	old, err := a.Instance.Location.Old(ctx, a.db.Queries)
	if err != nil {
		return RekeyPlan{}, err
	}
	var p RekeyPlan
	var errs [8]error
	p.Credentials, errs[0] = credential.Lost(ctx, a.db, old)
	p.Codes, errs[1] = license.LostCodes(ctx, a.db, old)
	p.Accounts, errs[2] = iap.LostAccounts(ctx, a.db, old)
	p.Lost, errs[3] = a.Instance.Lost(ctx, old)
	p.Webhooks, errs[4] = a.Events.LostWebhooks(ctx, old)
	p.Purchases, errs[5] = membership.LostTokens(ctx, a.db, old)
	p.Queued, errs[6] = membership.LostQueued(ctx, a.db, old)
	p.Simulator, errs[7] = simulator.Lost(ctx, a.db, old)
	return p, errors.Join(errs[:]...)
}

func (a *Addon) rekeyable(ctx context.Context) error {
	tables, err := a.Instance.Replaceable(ctx)
	switch {
	case err != nil:
		return err
	case tables == sqldb.StateEmpty:
		return access.ErrUpdateNeeded
	case tables == sqldb.StateOlder:
		return access.ErrOutdated
	case tables == sqldb.StateNewer:
		return instance.ErrSchemaNewer
	}
	return nil
}

// Rekey creates a new key file for a database whose key file is lost or was disclosed. It
// encrypts everything again if the old key file is there, and deletes what only that can
// open. It is one transaction, and can be repeated after an interruption.
func (a *Addon) Rekey(ctx context.Context, actor people.Actor) (RekeyPlan, error) {
	if err := access.May(actor, access.Operate); err != nil {
		return RekeyPlan{}, err
	}
	plan, err := a.PlanRekey(ctx)
	if err != nil {
		return RekeyPlan{}, err
	}
	err = a.Instance.Rekey(ctx, actor, plan.detail(), func(q sqldb.Queries, old, fresh *keyfile.Box) error {
		tx := addondb.In(q)
		for _, reseal := range []func(context.Context, *addondb.DB, *keyfile.Box, *keyfile.Box) error{
			credential.Reseal, license.ResealCodes, membership.Reseal, iap.ResealAccounts,
		} {
			if err := reseal(ctx, tx, old, fresh); err != nil {
				return err
			}
		}
		if err := simulator.Reseal(ctx, tx, old, fresh, a.access.Timestamp()); err != nil {
			return err
		}
		return a.Events.ResealWebhooks(ctx, tx, old, fresh)
	})
	if err != nil {
		return RekeyPlan{}, err
	}
	return plan, nil
}

// detail is what the audit log says of a rekey.
func (p RekeyPlan) detail() string {
	text := fmt.Sprintf("deleted: %s, %s, %s, %s, %s, %s, %s", count(len(p.Credentials), "API credential"), count(len(p.Accounts), "service account"),
		count(len(p.Codes), "purchase code"), count(len(p.Webhooks), "webhook secret"), count(len(p.Purchases), "purchase token"), count(p.Queued, "queued verification"), count(len(p.Users), "authenticator app"))
	if p.Simulator {
		text += ", the simulated store"
	}
	if p.BackupPlace != "" {
		text += ", the place of scheduled backups"
	}
	return text
}

func count(n int, noun string) string { return wording.Count(int64(n), noun, noun+"s") }

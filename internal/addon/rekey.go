package addon

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/addon/simulator"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// RekeyPlan describes what a new key file would cost: the values that the old one can't
// open any more, or nothing when that is there.
type RekeyPlan struct {
	// Credentials lose their API key and API secret, and refuse every call until they
	// are rotated.
	Credentials []Credential
	// Accounts are service accounts, of the draft and of all versions, whose file has to be
	// set again before apps can buy.
	Accounts []iap.ServiceAccountFacts
	// Codes are stored purchase codes. They have to be entered again to check, move or
	// revoke their licenses; the license files stay.
	Codes []PurchaseCode
	// Webhooks are paused until their secret is rotated.
	Webhooks []events.Webhook
	// Purchases are the ids of purchases in the app whose tokens are lost. Their members
	// keep access until the paid time ends; apps restore them.
	Purchases []string
	// Queued is how many verifications that the store has not answered yet are lost. Their apps verify again.
	Queued int
	// Simulator reports that the simulated store forgets its purchases and begins anew.
	Simulator bool
	// Users are the e-mails of administrators whose authenticator app stops working.
	// Their recovery codes still sign in.
	Users []string
	// BackupPlace is where scheduled backups were written to, when only the lost key file can open
	// that. The schedule is switched off.
	BackupPlace string
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
	old, err := a.location.Old(ctx, a.db.Queries)
	if err != nil {
		return RekeyPlan{}, err
	}
	pairs, err1 := a.db.Credentials(ctx)
	codes, err2 := a.db.PurchaseCodes(ctx)
	accounts, err3 := iap.LostAccounts(ctx, a.db, old)
	users, err4 := people.LostTOTP(ctx, &a.db.DB, old)
	webhooks, err5 := a.Events.LostWebhooks(ctx, old)
	purchases, err6 := membership.LostTokens(ctx, a.db, old)
	simulated, err7 := simulator.Lost(ctx, a.db, old)
	queued, err9 := membership.LostQueued(ctx, a.db, old)
	place, err8 := backup.LostPlace(ctx, a.db.Queries, old)
	plan := RekeyPlan{Simulator: simulated, Accounts: accounts, Webhooks: webhooks, Purchases: purchases, Queued: queued, Users: users, BackupPlace: place}
	for _, c := range pairs {
		if len(c.KeySealed) > 0 && !resealCredential(&c, old, old) {
			plan.Credentials = append(plan.Credentials, credentialOf(c))
		}
	}
	for _, c := range codes {
		if len(c.Sealed) > 0 && keyfile.Reseal(old, old, codePurpose(c.Hint), c.Sealed) == nil {
			plan.Codes = append(plan.Codes, purchaseCodeOf(c))
		}
	}
	return plan, errors.Join(err1, err2, err3, err4, err5, err6, err7, err8, err9)
}

func (a *Addon) rekeyable(ctx context.Context) error {
	if err := a.location.Replaceable(); err != nil {
		return err
	}
	tables, err := a.location.State(ctx, a.database)
	switch {
	case err != nil:
		return err
	case tables == sqldb.StateEmpty:
		return errUpdateNeeded
	case tables == sqldb.StateOlder:
		return errOutdated
	case tables == sqldb.StateNewer:
		return errNewer
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
	fresh, err := a.location.Rekey(ctx, a.database, func(q sqldb.Queries, old, fresh *keyfile.Box) error {
		tx := addondb.In(q)
		if err := reseal(ctx, tx, old, fresh); err != nil {
			return err
		}
		if err := simulator.Reseal(ctx, tx, old, fresh, a.guard.Timestamp()); err != nil {
			return err
		}
		if err := a.Events.ResealWebhooks(ctx, tx, old, fresh); err != nil {
			return err
		}
		if err := backup.Reseal(ctx, q, old, fresh); err != nil {
			return err
		}
		checked, err := people.Rekey(ctx, &tx.DB, old, fresh, a.now())
		if err != nil {
			return err
		}
		return a.guard.Audit(ctx, tx, actor, people.Event{Action: access.ActionAddonRekey, Detail: plan.detail(checked)})
	})
	if err != nil {
		return RekeyPlan{}, err
	}
	a.key.Open(fresh)
	return plan, nil
}

// detail is what the audit log says of a rekey.
func (p RekeyPlan) detail(auditChecked bool) string {
	text := fmt.Sprintf("deleted: %s, %s, %s, %s, %s, %s, %s", count(len(p.Credentials), "API credential"), count(len(p.Accounts), "service account"),
		count(len(p.Codes), "purchase code"), count(len(p.Webhooks), "webhook secret"), count(len(p.Purchases), "purchase token"), count(p.Queued, "queued verification"), count(len(p.Users), "authenticator app"))
	if p.Simulator {
		text += ", the simulated store"
	}
	if p.BackupPlace != "" {
		text += ", the place of scheduled backups"
	}
	if !auditChecked {
		text += "; the head of the audit log's seals could not be checked"
	}
	return text
}

// reseal brings the addon's own secrets from an old key file, nil when it is lost, to a
// new one.
func reseal(ctx context.Context, tx *addondb.DB, old, fresh *keyfile.Box) error {
	pairs, err := tx.Credentials(ctx)
	if err != nil {
		return err
	}
	for _, c := range pairs {
		if !resealCredential(&c, old, fresh) {
			c.KeySealed, c.SecretSealed = []byte{}, []byte{}
		}
		if err := tx.UpdateCredential(ctx, c); err != nil {
			return err
		}
	}
	if err := resealCodes(ctx, tx, old, fresh); err != nil {
		return err
	}
	if err := membership.Reseal(ctx, tx, old, fresh); err != nil {
		return err
	}
	return iap.ResealAccounts(ctx, tx, old, fresh)
}

// resealCredential seals both values of a pair again, and reports false when one of them
// can't be opened.
func resealCredential(c *addondb.Credential, old, fresh *keyfile.Box) bool {
	key := keyfile.Reseal(old, fresh, pairPurpose(*c, HalfKey), c.KeySealed)
	secret := keyfile.Reseal(old, fresh, pairPurpose(*c, HalfSecret), c.SecretSealed)
	if key == nil || secret == nil {
		return false
	}
	c.KeySealed, c.SecretSealed = key, secret
	return true
}

// resealCodes keeps the rows of codes that can't be opened only while licenses name them.
func resealCodes(ctx context.Context, tx *addondb.DB, old, fresh *keyfile.Box) error {
	codes, err := tx.PurchaseCodes(ctx)
	if err != nil {
		return err
	}
	for _, c := range codes {
		sealed := keyfile.Reseal(old, fresh, codePurpose(c.Hint), c.Sealed)
		if sealed == nil {
			sealed = []byte{}
			if err := tx.DeleteUnusedCode(ctx, c.ID); err != nil {
				return err
			}
		}
		if err := tx.SetSealedCode(ctx, c.ID, sealed); err != nil {
			return err
		}
	}
	return nil
}

package addon

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/token"
)

// The prefixes of an API key and of its secret.
const (
	prefixKey    = "cak_"
	prefixSecret = "cas_"
)

// Credential is an API key and an API secret, as lists show it.
type Credential struct {
	ID    int64
	Label string
	// Key and Secret are masked: their ends only.
	Key, Secret             string
	KeyActive, SecretActive bool
	CreatedAt               time.Time
	RotatedAt               time.Time // zero: never
	LastUsedAt              time.Time // zero: never
	LastUsedFrom            string
	UsedCount               int64
}

func credentialOf(c addondb.Credential) Credential {
	return Credential{
		ID: c.ID, Label: c.Label, Key: c.KeyHint, Secret: c.SecretHint, KeyActive: c.KeyActive, SecretActive: c.SecretActive,
		CreatedAt: c.CreatedAt.Time, RotatedAt: c.RotatedAt.Time, LastUsedAt: c.LastUsedAt.Time, LastUsedFrom: c.LastUsedFrom, UsedCount: c.UsedCount,
	}
}

// Active reports whether both halves are.
func (c Credential) Active() bool { return c.KeyActive && c.SecretActive }

// APICredentials has the API key and secret of a credential, for its owner only.
type APICredentials struct{ Key, Secret string }

// String keeps the values out of texts and logs that are made by accident.
func (APICredentials) String() string { return "(API key and secret)" }

// Half names the halves of a credential.
type Half string

// The halves.
const (
	HalfKey    Half = "key"
	HalfSecret Half = "secret"
	HalfBoth   Half = "both"
)

// Credentials lists all by id.
func (a *Addon) Credentials(ctx context.Context, actor people.Actor) ([]Credential, error) {
	if err := a.guard.May(actor, access.ManageSite); err != nil {
		return nil, err
	}
	rows, err := a.db.Credentials(ctx)
	return sqldb.Convert(rows, credentialOf), err
}

// Credential reads one. Its error is of kind NotFound.
func (a *Addon) Credential(ctx context.Context, actor people.Actor, id int64) (Credential, error) {
	list, err := a.Credentials(ctx, actor)
	if err != nil {
		return Credential{}, err
	}
	for _, c := range list {
		if c.ID == id {
			return c, nil
		}
	}
	return Credential{}, noCredential(id)
}

func noCredential(id int64) *countersign.Error {
	return fault.NotFound("credential_not_found", fmt.Sprintf("No API credentials with the id %d", id))
}

// CreateCredential creates API credentials, both active. A used label is a conflict
// (label_exists), an invalid one is of kind Invalid with Fields "label".
func (a *Addon) CreateCredential(ctx context.Context, actor people.Actor, label string) (Credential, APICredentials, error) {
	if err := a.guard.May(actor, access.ManageSite); err != nil {
		return Credential{}, APICredentials{}, err
	}
	label, err := checkLabel(label)
	if err != nil {
		return Credential{}, APICredentials{}, err
	}
	var c addondb.Credential
	var credentials APICredentials
	err = a.db.Tx(ctx, func(tx *addondb.DB) (err error) {
		c, credentials, err = a.createCredential(ctx, tx, actor, label)
		return err
	})
	if err != nil {
		return Credential{}, APICredentials{}, err
	}
	return credentialOf(c), credentials, nil
}

// CheckLabel returns what is wrong with a label for API credentials, with Fields "label".
func CheckLabel(label string) error {
	_, err := checkLabel(label)
	return err
}

func checkLabel(label string) (string, error) {
	label, problem := input.Title(label)
	if problem == "" && label == "" {
		problem = "Enter a label for the API credentials"
	}
	if problem != "" {
		return "", input.Refused(map[string]string{"label": problem})
	}
	return label, nil
}

func errLabelExists(label string) error {
	return fault.Conflict("label_exists", fmt.Sprintf("API credentials with the label %q already exist. Choose another label", label))
}

func (a *Addon) createCredential(ctx context.Context, tx *addondb.DB, actor people.Actor, label string) (addondb.Credential, APICredentials, error) {
	c := addondb.Credential{Label: label, KeyActive: true, SecretActive: true, CreatedAt: a.guard.Timestamp()}
	credentials := a.setCredentials(&c)
	var err error
	if c.ID, err = tx.AddCredential(ctx, c); errors.Is(err, sqldb.ErrExists) {
		return c, credentials, errLabelExists(label)
	}
	if err != nil {
		return c, credentials, err
	}
	if err := a.guard.SameKeyFile(ctx, tx); err != nil {
		return c, credentials, err
	}
	if err := endDismissal(ctx, tx); err != nil {
		return c, credentials, err
	}
	return c, credentials, a.guard.Audit(ctx, tx, actor, people.Event{Action: access.ActionCredentialCreate, Subject: credentialName(c), After: switches(c)})
}

// setCredentials sets new values of a credential.
func (a *Addon) setCredentials(c *addondb.Credential) APICredentials {
	credentials := APICredentials{Key: token.New(prefixKey), Secret: token.New(prefixSecret)}
	box := a.key.Box()
	c.KeyDigest, c.KeyHint, c.SecretHint = token.Digest(credentials.Key), token.Hint(credentials.Key), token.Hint(credentials.Secret)
	c.KeySealed = box.Seal(pairPurpose(*c, HalfKey), []byte(credentials.Key))
	c.SecretSealed = box.Seal(pairPurpose(*c, HalfSecret), []byte(credentials.Secret))
	return credentials
}

// pairPurpose binds a sealed value to its key, so that values can't be swapped.
func pairPurpose(c addondb.Credential, half Half) string {
	return fmt.Sprintf("addon %s %x", half, c.KeyDigest)
}

// openCredentials decrypts the values of a credential.
func (a *Addon) openCredentials(c addondb.Credential) (APICredentials, error) {
	box := a.key.Box()
	key, err1 := box.Open(pairPurpose(c, HalfKey), c.KeySealed)
	secret, err2 := box.Open(pairPurpose(c, HalfSecret), c.SecretSealed)
	if err := errors.Join(err1, err2); err != nil {
		return APICredentials{}, fault.Conflict("credential_not_kept", "These API credentials can't be read: they were encrypted with another key file. Rotate them to get new values")
	}
	return APICredentials{string(key), string(secret)}, nil
}

// RevealCredential shows the values of API credentials again, and writes an audit entry. A page
// asks for the password first (people.CheckPassword).
func (a *Addon) RevealCredential(ctx context.Context, actor people.Actor, id int64) (Credential, APICredentials, error) {
	var credentials APICredentials
	c, err := a.changeCredential(ctx, actor, id, func(_ *addondb.DB, c *addondb.Credential) (event people.Event, err error) {
		credentials, err = a.openCredentials(*c)
		return people.Event{Action: access.ActionCredentialReveal}, err
	})
	if err != nil {
		return Credential{}, APICredentials{}, err
	}
	return c, credentials, nil
}

// RotateCredential replaces the values of API credentials; the old ones expire at once. The switches
// stay as they are.
func (a *Addon) RotateCredential(ctx context.Context, actor people.Actor, id int64) (Credential, APICredentials, error) {
	var credentials APICredentials
	c, err := a.changeCredential(ctx, actor, id, func(tx *addondb.DB, c *addondb.Credential) (people.Event, error) {
		before := c.KeyHint
		credentials = a.setCredentials(c)
		c.RotatedAt = a.guard.Timestamp()
		if err := a.guard.SameKeyFile(ctx, tx); err != nil {
			return people.Event{}, err
		}
		return people.Event{Action: access.ActionCredentialRotate, Before: before, After: c.KeyHint}, tx.UpdateCredential(ctx, *c)
	})
	if err != nil {
		return Credential{}, APICredentials{}, err
	}
	return c, credentials, nil
}

// SetCredentialActive activates or deactivates the API key, the secret, or both. A call
// needs both.
func (a *Addon) SetCredentialActive(ctx context.Context, actor people.Actor, id int64, half Half, on bool) (Credential, error) {
	if half != HalfKey && half != HalfSecret && half != HalfBoth {
		return Credential{}, input.Refused(map[string]string{"half": fmt.Sprintf("It is %s, %s or %s", HalfKey, HalfSecret, HalfBoth)})
	}
	return a.changeCredential(ctx, actor, id, func(tx *addondb.DB, c *addondb.Credential) (people.Event, error) {
		before := switches(*c)
		if half != HalfSecret {
			c.KeyActive = on
		}
		if half != HalfKey {
			c.SecretActive = on
		}
		if before == switches(*c) {
			return people.Event{}, nil
		}
		action := map[bool]people.Action{true: access.ActionCredentialActivate, false: access.ActionCredentialDeactivate}[on]
		return people.Event{Action: action, Before: before, After: switches(*c)}, tx.UpdateCredential(ctx, *c)
	})
}

// RenameCredential changes the label of API credentials. A used label is a conflict
// (label_exists), an invalid one is of kind Invalid with Fields "label".
func (a *Addon) RenameCredential(ctx context.Context, actor people.Actor, id int64, label string) (Credential, error) {
	return a.changeCredential(ctx, actor, id, func(tx *addondb.DB, c *addondb.Credential) (people.Event, error) {
		label, err := checkLabel(label)
		if err != nil || label == c.Label {
			return people.Event{}, err
		}
		event := people.Event{Action: access.ActionCredentialRename, Before: c.Label, After: label}
		c.Label = label
		if err := tx.RenameCredential(ctx, id, label); errors.Is(err, sqldb.ErrExists) {
			return event, errLabelExists(label)
		} else if err != nil {
			return event, err
		}
		return event, nil
	})
}

// DeleteCredential deletes API credentials of which key and secret are inactive. Others
// are a conflict (credential_active).
func (a *Addon) DeleteCredential(ctx context.Context, actor people.Actor, id int64) (Credential, error) {
	return a.changeCredential(ctx, actor, id, func(tx *addondb.DB, c *addondb.Credential) (people.Event, error) {
		if c.KeyActive || c.SecretActive {
			return people.Event{}, fault.Conflict("credential_active",
				fmt.Sprintf("The API credentials %q are not deactivated (%s). Nothing was deleted. Deactivate both first", c.Label, switches(*c)))
		}
		return people.Event{Action: access.ActionCredentialDelete, Before: c.KeyHint}, tx.DeleteCredential(ctx, id)
	})
}

// changeCredential runs a change of API credentials and its audit entry in one transaction.
// An event without an action is not written.
func (a *Addon) changeCredential(ctx context.Context, actor people.Actor, id int64, act func(*addondb.DB, *addondb.Credential) (people.Event, error)) (Credential, error) {
	if err := a.guard.May(actor, access.ManageSite); err != nil {
		return Credential{}, err
	}
	var c addondb.Credential
	err := a.db.Tx(ctx, func(tx *addondb.DB) (err error) {
		if c, err = tx.LockCredential(ctx, id); err != nil {
			return sqldb.IfNotFound(err, noCredential(id))
		}
		event, err := act(tx, &c)
		if err != nil || event.Action == "" {
			return err
		}
		if err := endDismissal(ctx, tx); err != nil {
			return err
		}
		event.Subject = credentialName(c)
		return a.guard.Audit(ctx, tx, actor, event)
	})
	return credentialOf(c), err
}

func credentialName(c addondb.Credential) string { return fmt.Sprintf("%d %s", c.ID, c.Label) }

// switches returns which halves are active.
func switches(c addondb.Credential) string {
	word := map[bool]string{true: "active", false: "inactive"}
	return fmt.Sprintf("key %s, secret %s", word[c.KeyActive], word[c.SecretActive])
}

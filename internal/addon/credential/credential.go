package credential

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

// Values has the API key and secret of a credential, for its owner only.
type Values struct{ Key, Secret string }

// String keeps the values out of texts and logs that are made by accident.
func (Values) String() string { return "(API key and secret)" }

// Half names the halves of a credential.
type Half string

// The halves.
const (
	HalfKey    Half = "key"
	HalfSecret Half = "secret"
	HalfBoth   Half = "both"
)

// List lists all by id.
func (s *Service) List(ctx context.Context, actor people.Actor) ([]Credential, error) {
	if err := s.access.May(actor, access.ManageSite); err != nil {
		return nil, err
	}
	rows, err := s.db.Credentials(ctx)
	return sqldb.Convert(rows, credentialOf), err
}

// Find reads one. Its error is of kind NotFound.
func (s *Service) Find(ctx context.Context, actor people.Actor, id int64) (Credential, error) {
	list, err := s.List(ctx, actor)
	if err != nil {
		return Credential{}, err
	}
	for _, c := range list {
		if c.ID == id {
			return c, nil
		}
	}
	return Credential{}, notFound(id)
}

func notFound(id int64) *countersign.Error {
	return fault.NotFound("credential_not_found", fmt.Sprintf("No API credentials with the id %d", id))
}

// Create creates API credentials, both active. A used label is a conflict
// (label_exists), an invalid one is of kind Invalid with Fields "label".
func (s *Service) Create(ctx context.Context, actor people.Actor, label string) (Credential, Values, error) {
	if err := s.access.May(actor, access.ManageSite); err != nil {
		return Credential{}, Values{}, err
	}
	label, err := checkLabel(label)
	if err != nil {
		return Credential{}, Values{}, err
	}
	var c Credential
	var values Values
	err = s.db.Tx(ctx, func(tx *addondb.DB) (err error) {
		c, values, err = s.CreateIn(ctx, tx, actor, label)
		return err
	})
	if err != nil {
		return Credential{}, Values{}, err
	}
	return c, values, nil
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

// CreateIn is Create in a transaction, for a valid label. The caller has checked the permission.
func (s *Service) CreateIn(ctx context.Context, tx *addondb.DB, actor people.Actor, label string) (Credential, Values, error) {
	c := addondb.Credential{Label: label, KeyActive: true, SecretActive: true, CreatedAt: s.access.Timestamp()}
	values := s.setValues(&c)
	var err error
	if c.ID, err = tx.AddCredential(ctx, c); errors.Is(err, sqldb.ErrExists) {
		return Credential{}, values, errLabelExists(label)
	}
	if err != nil {
		return Credential{}, values, err
	}
	if err := s.access.SameKeyFile(ctx, tx.Queries); err != nil {
		return Credential{}, values, err
	}
	if err := endDismissal(ctx, tx); err != nil {
		return Credential{}, values, err
	}
	return credentialOf(c), values, s.access.Audit(ctx, tx, actor, people.Event{Action: access.ActionCredentialCreate, Subject: nameOf(c), After: switches(c)})
}

// setValues sets new values of a credential.
func (s *Service) setValues(c *addondb.Credential) Values {
	values := Values{Key: token.New(prefixKey), Secret: token.New(prefixSecret)}
	box := s.access.Box()
	c.KeyDigest, c.KeyHint, c.SecretHint = token.Digest(values.Key), token.Hint(values.Key), token.Hint(values.Secret)
	c.KeySealed = box.Seal(pairPurpose(*c, HalfKey), []byte(values.Key))
	c.SecretSealed = box.Seal(pairPurpose(*c, HalfSecret), []byte(values.Secret))
	return values
}

// pairPurpose binds a sealed value to its key, so that values can't be swapped.
func pairPurpose(c addondb.Credential, half Half) string {
	return fmt.Sprintf("addon %s %x", half, c.KeyDigest)
}

// open decrypts the values of a credential.
func (s *Service) open(c addondb.Credential) (Values, error) {
	box := s.access.Box()
	key, errKey := box.Open(pairPurpose(c, HalfKey), c.KeySealed)
	secret, errSecret := box.Open(pairPurpose(c, HalfSecret), c.SecretSealed)
	if errKey != nil || errSecret != nil {
		return Values{}, fault.Conflict("credential_not_kept", "These API credentials can't be read: they were encrypted with another key file. Rotate them to get new values")
	}
	return Values{string(key), string(secret)}, nil
}

// Reveal shows the values of API credentials again, and writes an audit entry. A page
// asks for the password first (people.CheckPassword).
func (s *Service) Reveal(ctx context.Context, actor people.Actor, id int64) (Credential, Values, error) {
	var values Values
	c, err := s.change(ctx, actor, id, func(_ *addondb.DB, c *addondb.Credential) (event people.Event, err error) {
		values, err = s.open(*c)
		return people.Event{Action: access.ActionCredentialReveal}, err
	})
	if err != nil {
		return Credential{}, Values{}, err
	}
	return c, values, nil
}

// Rotate replaces the values of API credentials; the old ones expire at once. The switches
// stay as they are.
func (s *Service) Rotate(ctx context.Context, actor people.Actor, id int64) (Credential, Values, error) {
	var values Values
	c, err := s.change(ctx, actor, id, func(tx *addondb.DB, c *addondb.Credential) (people.Event, error) {
		before := c.KeyHint
		values = s.setValues(c)
		c.RotatedAt = s.access.Timestamp()
		if err := s.access.SameKeyFile(ctx, tx.Queries); err != nil {
			return people.Event{}, err
		}
		return people.Event{Action: access.ActionCredentialRotate, Before: before, After: c.KeyHint}, tx.UpdateCredential(ctx, *c)
	})
	if err != nil {
		return Credential{}, Values{}, err
	}
	return c, values, nil
}

// SetActive activates or deactivates the API key, the secret, or both. A call
// needs both.
func (s *Service) SetActive(ctx context.Context, actor people.Actor, id int64, half Half, on bool) (Credential, error) {
	if half != HalfKey && half != HalfSecret && half != HalfBoth {
		return Credential{}, input.Refused(map[string]string{"half": fmt.Sprintf("It is %s, %s or %s", HalfKey, HalfSecret, HalfBoth)})
	}
	return s.change(ctx, actor, id, func(tx *addondb.DB, c *addondb.Credential) (people.Event, error) {
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

// Rename changes the label of API credentials. A used label is a conflict
// (label_exists), an invalid one is of kind Invalid with Fields "label".
func (s *Service) Rename(ctx context.Context, actor people.Actor, id int64, label string) (Credential, error) {
	return s.change(ctx, actor, id, func(tx *addondb.DB, c *addondb.Credential) (people.Event, error) {
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

// Delete deletes API credentials of which key and secret are inactive. Others
// are a conflict (credential_active).
func (s *Service) Delete(ctx context.Context, actor people.Actor, id int64) (Credential, error) {
	return s.change(ctx, actor, id, func(tx *addondb.DB, c *addondb.Credential) (people.Event, error) {
		if c.KeyActive || c.SecretActive {
			return people.Event{}, fault.Conflict("credential_active",
				fmt.Sprintf("The API credentials %q are not deactivated (%s). Nothing was deleted. Deactivate both first", c.Label, switches(*c)))
		}
		return people.Event{Action: access.ActionCredentialDelete, Before: c.KeyHint}, tx.DeleteCredential(ctx, id)
	})
}

// change runs a change of API credentials and its audit entry in one transaction.
// An event without an action is not written.
func (s *Service) change(ctx context.Context, actor people.Actor, id int64, act func(*addondb.DB, *addondb.Credential) (people.Event, error)) (Credential, error) {
	if err := s.access.May(actor, access.ManageSite); err != nil {
		return Credential{}, err
	}
	var c addondb.Credential
	err := s.db.Tx(ctx, func(tx *addondb.DB) (err error) {
		if c, err = tx.LockCredential(ctx, id); err != nil {
			return sqldb.IfNotFound(err, notFound(id))
		}
		event, err := act(tx, &c)
		if err != nil || event.Action == "" {
			return err
		}
		if err := endDismissal(ctx, tx); err != nil {
			return err
		}
		event.Subject = nameOf(c)
		return s.access.Audit(ctx, tx, actor, event)
	})
	return credentialOf(c), err
}

func nameOf(c addondb.Credential) string { return fmt.Sprintf("%d %s", c.ID, c.Label) }

// switches returns which halves are active.
func switches(c addondb.Credential) string {
	word := map[bool]string{true: "active", false: "inactive"}
	return fmt.Sprintf("key %s, secret %s", word[c.KeyActive], word[c.SecretActive])
}

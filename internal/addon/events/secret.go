package events

import (
	"context"
	"fmt"
	"time"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/hook"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// MaxOverlap is how long webhooks are signed with two secrets at most.
const MaxOverlap = 7 * 24 * time.Hour

// SecretText is the secret of a webhook, for its owner only: whsec_ and base64.
type SecretText string

// String keeps the secret out of texts and logs that are made by accident.
func (SecretText) String() string { return "(webhook secret)" }

// secretPurpose binds a sealed secret to its webhook.
func secretPurpose(webhook int64) string { return fmt.Sprintf("addon webhook %d", webhook) }

var errSecretLost = fault.Conflict("webhook_secret_lost", "The secret of this webhook can't be read: it was encrypted with another key file. Rotate it")

// secrets are those that sign what is sent to a webhook now, the current one first.
func (s *Service) secrets(w addondb.Webhook) ([]hook.Secret, error) {
	box := s.access.Box()
	current, err := box.Open(secretPurpose(w.ID), w.SecretSealed)
	if err != nil {
		return nil, errSecretLost
	}
	all := []hook.Secret{current}
	if len(w.OldSealed) == 0 || !s.access.Now().Before(w.OldUntil.Time) {
		return all, nil
	}
	if old, err := box.Open(secretPurpose(w.ID), w.OldSealed); err == nil {
		all = append(all, old)
	}
	return all, nil
}

// RevealSecret shows the secret of a webhook again, and writes an audit entry. A page asks for
// the password first (people.CheckPassword). One that is lost is a conflict (webhook_secret_lost).
func (s *Service) RevealSecret(ctx context.Context, a people.Actor, id int64) (secret SecretText, err error) {
	_, err = s.changeWebhook(ctx, a, id, func(_ *addondb.DB, w *addondb.Webhook) (people.Event, error) {
		all, err := s.secrets(*w)
		if err != nil {
			return people.Event{}, err
		}
		secret = SecretText(all[0].Text())
		return people.Event{Action: access.ActionWebhookReveal}, nil
	})
	return secret, err
}

// RotateSecret makes a new secret for a webhook and returns it. For the overlap, up to
// [MaxOverlap], webhooks are signed with both. An overlap that is not valid is of kind
// Invalid with Fields "overlap".
func (s *Service) RotateSecret(ctx context.Context, a people.Actor, id int64, overlap time.Duration) (Webhook, SecretText, error) {
	if overlap < 0 || overlap > MaxOverlap {
		return Webhook{}, "", input.Invalid("webhook_invalid", map[string]string{"overlap": "The overlap is 0 to 7 days"})
	}
	secret := hook.NewSecret()
	v, err := s.changeWebhook(ctx, a, id, func(tx *addondb.DB, w *addondb.Webhook) (people.Event, error) {
		now := s.access.Now()
		w.OldSealed, w.OldUntil = []byte{}, sqldb.Time{}
		if overlap > 0 {
			w.OldSealed, w.OldUntil = w.SecretSealed, sqldb.Time{Time: now.Add(overlap)}
		}
		w.SecretSealed, w.RotatedAt = s.access.Box().Seal(secretPurpose(id), secret), sqldb.Time{Time: now}
		return people.Event{Action: access.ActionWebhookRotate, Detail: "overlap " + overlap.String()}, s.access.SameKeyFile(ctx, tx.Queries)
	})
	if err != nil {
		return Webhook{}, "", err
	}
	return v, SecretText(secret.Text()), nil
}

// LostWebhooks lists the webhooks whose secret an old key file, nil when it is lost, can't
// open any more.
func (s *Service) LostWebhooks(ctx context.Context, old *keyfile.Box) ([]Webhook, error) {
	list, err := s.db.Webhooks(ctx)
	var lost []Webhook
	for _, w := range list {
		if len(w.SecretSealed) > 0 && keyfile.Reseal(old, old, secretPurpose(w.ID), w.SecretSealed) == nil {
			lost = append(lost, s.webhookOf(w))
		}
	}
	return lost, err
}

// ResealWebhooks brings the secrets of webhooks from an old key file, nil when it is lost, to
// a new one. A webhook whose secret can't be opened is paused.
func (s *Service) ResealWebhooks(ctx context.Context, tx *addondb.DB, old, fresh *keyfile.Box) error {
	list, err := tx.Webhooks(ctx)
	if err != nil {
		return err
	}
	for _, w := range list {
		w.OldSealed = keyfile.Reseal(old, fresh, secretPurpose(w.ID), w.OldSealed)
		if w.OldSealed == nil {
			w.OldSealed = []byte{}
		}
		w.SecretSealed = keyfile.Reseal(old, fresh, secretPurpose(w.ID), w.SecretSealed)
		if w.SecretSealed == nil {
			w.SecretSealed, w.PausedFor, w.PausedAt = []byte{}, string(PausedSecretLost), s.access.Timestamp()
		}
		if err := tx.UpdateWebhook(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

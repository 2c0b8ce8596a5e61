package events

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/hook"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// maxWebhooks is how many webhooks an addon has at most: each event is sent to all of them.
const maxWebhooks = 20

// Webhook is an address that receives events, as lists show it.
type Webhook struct {
	ID  int64
	URL string
	// Types are those that it receives; empty for all.
	Types     []Type
	CreatedAt time.Time
	RotatedAt time.Time // zero: never
	// OldSecretUntil is how long webhooks are also signed with the secret before the last
	// rotation, zero when they are not.
	OldSecretUntil time.Time
	// PausedFor is why it is paused, "" when it is not.
	PausedFor Reason
	PausedAt  time.Time
	// FailingSince is when the first delivery failed since the last success, zero for none.
	FailingSince time.Time
}

func (s *Service) webhookOf(w addondb.Webhook) Webhook {
	list := make([]Type, len(w.Types.V))
	for i, t := range w.Types.V {
		list[i] = Type(t)
	}
	v := Webhook{
		ID: w.ID, URL: w.URL, Types: list, CreatedAt: w.CreatedAt.Time, RotatedAt: w.RotatedAt.Time,
		PausedFor: Reason(w.PausedFor), PausedAt: w.PausedAt.Time, FailingSince: w.FailingSince.Time,
	}
	if len(w.OldSealed) > 0 && s.access.Now().Before(w.OldUntil.Time) {
		v.OldSecretUntil = w.OldUntil.Time
	}
	return v
}

// webhookName is how the audit log names a webhook: without its path, which may hold a token.
func webhookName(w addondb.Webhook) string {
	host := ""
	if u, err := url.Parse(w.URL); err == nil {
		host = u.Host
	}
	return fmt.Sprintf("%d %s", w.ID, host)
}

// Webhooks lists all by id.
func (s *Service) Webhooks(ctx context.Context, a people.Actor) ([]Webhook, error) {
	if err := s.access.May(a, access.ManageSite); err != nil {
		return nil, err
	}
	rows, err := s.db.Webhooks(ctx)
	return sqldb.Convert(rows, s.webhookOf), err
}

// Webhook reads one. Its error is of kind NotFound (webhook_not_found).
func (s *Service) Webhook(ctx context.Context, a people.Actor, id int64) (Webhook, error) {
	if err := s.access.May(a, access.ManageSite); err != nil {
		return Webhook{}, err
	}
	row, err := s.db.Webhook(ctx, id)
	if err != nil {
		return Webhook{}, sqldb.IfNotFound(err, noWebhook(id))
	}
	return s.webhookOf(row), nil
}

func noWebhook(id int64) *countersign.Error {
	return fault.NotFound("webhook_not_found", fmt.Sprintf("No webhook with the id %d", id))
}

// AddWebhook adds an address that receives events of some types, or of all if none is named, and
// returns the secret of its signatures. The address is one of https, or of http on a private host
// that the operator allows. What is wrong is of kind Invalid (webhook_invalid) with Fields
// "url" or "types", or webhook_private for an address that the operator does not allow; more than 20 are a conflict (too_many_webhooks).
func (s *Service) AddWebhook(ctx context.Context, a people.Actor, address string, wanted []Type) (Webhook, SecretText, error) {
	if err := s.access.May(a, access.ManageSite); err != nil {
		return Webhook{}, "", err
	}
	address, names, err := s.checkNew(ctx, address, wanted)
	if err != nil {
		return Webhook{}, "", err
	}
	secret := hook.NewSecret()
	w := addondb.Webhook{URL: address, Types: sqldb.JSON[[]string]{V: names}, OldSealed: []byte{}, CreatedAt: s.access.Timestamp()}
	err = s.db.Tx(ctx, func(tx *addondb.DB) error {
		all, err := tx.Webhooks(ctx)
		if err != nil {
			return err
		}
		if len(all) >= maxWebhooks {
			return fault.Conflict("too_many_webhooks", fmt.Sprintf("There are %d webhooks already, which is the most", maxWebhooks))
		}
		if w.ID, err = tx.AddWebhook(ctx, w); err != nil {
			return err
		}
		w.SecretSealed = s.access.Box().Seal(secretPurpose(w.ID), secret)
		if err := tx.UpdateWebhook(ctx, w); err != nil {
			return err
		}
		if err := s.access.SameKeyFile(ctx, tx.Queries); err != nil {
			return err
		}
		return s.access.Audit(ctx, tx, a, people.Event{Action: access.ActionWebhookAdd, Subject: webhookName(w), After: typesText(w)})
	})
	if err != nil {
		return Webhook{}, "", err
	}
	return s.webhookOf(w), SecretText(secret.Text()), nil
}

// CheckNew is what [Service.AddWebhook] finds wrong with an address and types.
func (s *Service) CheckNew(ctx context.Context, address string, wanted []Type) error {
	_, _, err := s.checkNew(ctx, address, wanted)
	return err
}

func (s *Service) checkNew(ctx context.Context, address string, wanted []Type) (string, []string, error) {
	address, names, err := s.check(address, wanted)
	if err == nil {
		err = s.checkReach(ctx, address)
	}
	return address, names, err
}

// check returns an address and types as they are kept.
func (s *Service) check(address string, wanted []Type) (string, []string, error) {
	fields := map[string]string{}
	address, problem := s.checkURL(address)
	if problem != "" {
		fields["url"] = problem
	}
	names := make([]string, len(wanted))
	for i, t := range wanted {
		names[i] = string(t)
		if !slices.Contains(types, t) {
			fields["types"] = fmt.Sprintf("Unknown type of event %q", input.Shorten(string(t)))
		}
	}
	slices.Sort(names)
	if len(fields) > 0 {
		return "", nil, input.Invalid("webhook_invalid", fields)
	}
	return address, slices.Compact(names), nil
}

func typesText(w addondb.Webhook) string {
	if len(w.Types.V) == 0 {
		return "all events"
	}
	return fmt.Sprint(w.Types.V)
}

// WebhookChange is what is to change of a webhook; nil stays.
type WebhookChange struct {
	URL   *string
	Types *[]Type
}

// EditWebhook changes the address or the types of a webhook. Errors as of [Service.AddWebhook].
func (s *Service) EditWebhook(ctx context.Context, a people.Actor, id int64, change WebhookChange) (Webhook, error) {
	var unreachable error // found before the transaction, which waits for no name server
	if change.URL != nil {
		unreachable = s.checkReach(ctx, strings.TrimSpace(*change.URL))
	}
	return s.changeWebhook(ctx, a, id, func(_ *addondb.DB, w *addondb.Webhook) (people.Event, error) {
		was := *w
		address, wanted := w.URL, s.webhookOf(*w).Types
		if change.URL != nil {
			address = *change.URL
		}
		if change.Types != nil {
			wanted = *change.Types
		}
		address, names, err := s.check(address, wanted)
		if err != nil || address == w.URL && slices.Equal(names, w.Types.V) {
			return people.Event{}, err
		}
		if address != w.URL && unreachable != nil {
			return people.Event{}, unreachable
		}
		w.URL, w.Types.V = address, names
		return people.Event{Action: access.ActionWebhookEdit, Before: webhookName(was) + ", " + typesText(was), After: webhookName(*w) + ", " + typesText(*w)}, nil
	})
}

// RemoveWebhook removes a webhook and the log of its deliveries.
func (s *Service) RemoveWebhook(ctx context.Context, a people.Actor, id int64) (Webhook, error) {
	return s.changeWebhook(ctx, a, id, func(tx *addondb.DB, w *addondb.Webhook) (people.Event, error) {
		if err := jobs.DiscardIn(ctx, tx.Queries, deliverKind, id, s.access.Now()); err != nil {
			return people.Event{}, err
		}
		return people.Event{Action: access.ActionWebhookRemove}, tx.DeleteWebhook(ctx, id)
	})
}

// changeWebhook runs a change of a webhook and its audit entry in one transaction. An event
// without an action is not written.
func (s *Service) changeWebhook(ctx context.Context, a people.Actor, id int64, act func(*addondb.DB, *addondb.Webhook) (people.Event, error)) (Webhook, error) {
	if err := s.access.May(a, access.ManageSite); err != nil {
		return Webhook{}, err
	}
	var w addondb.Webhook
	err := s.db.Tx(ctx, func(tx *addondb.DB) (err error) {
		if err := tx.LockEvents(ctx); err != nil { // whoever appends sees the change, or we see the event
			return err
		}
		if w, err = tx.LockWebhook(ctx, id); err != nil {
			return sqldb.IfNotFound(err, noWebhook(id))
		}
		event, err := act(tx, &w)
		if err != nil || event.Action == "" {
			return err
		}
		if err := tx.UpdateWebhook(ctx, w); err != nil {
			return err
		}
		event.Subject = webhookName(w)
		return s.access.Audit(ctx, tx, a, event)
	})
	return s.webhookOf(w), err
}

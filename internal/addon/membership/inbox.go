package membership

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/sqldb"
)

func isKnownKind(kind play.NotificationKind) bool {
	return slices.Contains([]play.NotificationKind{play.OfSubscription, play.OfOneTime, play.OfVoid, play.OfRefundReview, play.OfTest}, kind)
}

const (
	alertNotification = "unknown_notification"
	alertRefundReview = "refund_review"
	alertApplication  = "other_application"
)

// Receive stores a notification whose sender was authenticated. It is a hint: what counts is what the
// store says when it is asked. It is processed later, by a task that asks the store; several
// notifications about one token are one task. A message that arrived before changes nothing.
func (s *Service) Receive(ctx context.Context, n play.Notification, body []byte) error {
	if n.MessageID == "" || len(n.MessageID) > 200 || len(n.Token) > maxToken {
		return fault.Invalid("invalid_request", "The notification is malformed")
	}
	selling, err := s.selling(ctx)
	if err != nil {
		return err
	}
	return s.db.Tx(ctx, func(tx *addondb.DB) error {
		if err := s.ReceiveIn(ctx, tx, selling, n, body, 0); err != nil {
			return err
		}
		return s.access.SameKeyFile(ctx, tx.Queries)
	})
}

// ReceiveIn is Receive in a transaction, with the settings. The task is due after a
// wait. [access.Control.SameKeyFile] is left to the caller.
func (s *Service) ReceiveIn(ctx context.Context, tx *addondb.DB, selling iap.Selling, n play.Notification, body []byte, wait time.Duration) error {
	message, err := s.message(n, body)
	if err != nil {
		return err
	}
	ownApp := n.Package == selling.Application
	if !ownApp {
		if ownApp, err = tx.HasApplication(ctx, n.Package); err != nil {
			return err
		}
	}
	concerns, err := concernsUs(ctx, tx, selling, n, message.TokenDigest)
	if err != nil {
		return err
	}
	processed := n.Token == "" || !ownApp || !concerns
	if processed {
		message.ProcessedAt, message.Result = s.timestamp(), "not needed"
	}
	added, err := tx.AddMessage(ctx, message)
	if err != nil || !added {
		return err
	}
	if err := s.noteNotification(ctx, tx, n, ownApp); err != nil || processed {
		return err
	}
	return s.putNotified(ctx, tx, n, message.TokenDigest, s.now().Add(wait))
}

// concernsUs reports whether a notification may be about a product of the site: apps sell one-time products without it, too.
func concernsUs(ctx context.Context, tx *addondb.DB, selling iap.Selling, n play.Notification, digest []byte) (bool, error) {
	if _, sold := selling.OneTime[n.ProductID]; sold || n.Kind != play.OfOneTime {
		return true, nil
	}
	known, err := tx.PurchaseByToken(ctx, platform, digest) // it may have left the map
	return known.ID != 0, ignoreNotFound(err)
}

// message is a notification as it is stored: the body and the token are sealed.
func (s *Service) message(n play.Notification, body []byte) (addondb.Message, error) {
	m := addondb.Message{MessageID: n.MessageID, Kind: string(n.Kind), Code: n.Code, ReceivedAt: s.timestamp()}
	if n.Token != "" {
		m.TokenDigest = digestOf(s.box(), n.Token)
	}
	text, err := json.Marshal(sealedMessage{n.Token, n.Package, body})
	if err != nil {
		return m, fmt.Errorf("membership: seal a notification: %w", err)
	}
	m.Sealed = s.box().Seal(messagePurpose(n.MessageID), text)
	return m, nil
}

// sealedMessage is what a stored notification keeps sealed.
type sealedMessage struct {
	Token       string `json:"token"`
	Application string `json:"application"` // "" for one of an earlier version
	Body        []byte `json:"body"`
}

func messagePurpose(id string) string { return "store notification " + id }

// putNotified has the store asked about a token. A void is looked for in the store's list.
func (s *Service) putNotified(ctx context.Context, tx *addondb.DB, n play.Notification, digest []byte, due time.Time) error {
	if n.Kind == play.OfVoid {
		if err := s.put(ctx, tx, jobs.Task{Kind: KindVoided, Key: RepeatingKey, Due: due}); err != nil {
			return err
		}
	}
	return s.put(ctx, tx, jobs.Task{Kind: KindNotified, Key: hex.EncodeToString(digest), Due: due, Payload: tokenRef{s.sealQueued(n.Token), originOfMessage(n.MessageID, n.Package), n.Kind == play.OfOneTime}})
}

// originOfMessage is where the purchase of a notification was made.
func originOfMessage(id, application string) origin {
	return origin{strings.HasPrefix(id, SimulatedPrefix), application}
}

// noteNotification raises the alerts of a notification.
func (s *Service) noteNotification(ctx context.Context, tx *addondb.DB, n play.Notification, ownApp bool) error {
	switch {
	case !ownApp:
		return s.raise(ctx, tx, alertApplication, n.Package, fmt.Sprintf("The store sends notifications of another app, %s. Check the Android application ID and the topic", clip(n.Package)))
	case n.Kind == play.OfRefundReview:
		err := s.raise(ctx, tx, alertRefundReview, n.OrderID, "A buyer disputes an order with the bank. The store asks for your opinion within 24 hours")
		return errors.Join(err, s.announceReview(ctx, tx, n))
	case n.Kind == play.OfSubscription && codeNames[n.Code] == "":
		return s.raise(ctx, tx, alertNotification, fmt.Sprint(n.Code), fmt.Sprintf("The store sends notifications with the code %d, which this version does not know. The purchases are read again", n.Code))
	case !isKnownKind(n.Kind):
		return s.raise(ctx, tx, alertNotification, clip(string(n.Kind)), "The store sends notifications of a kind that this version does not know. The purchases are read again")
	}
	return nil
}

// Process does at once what the task of a notification does.
func (s *Service) Process(ctx context.Context, n play.Notification) error {
	if n.Kind == play.OfVoid {
		if _, err := s.doVoided(ctx, nil); err != nil {
			return err
		}
	}
	return s.notified(ctx, n.Token, originOfMessage(n.MessageID, n.Package), n.Kind == play.OfOneTime)
}

// doNotified is the task of the notifications about a token.
func (s *Service) doNotified(ctx context.Context, payload []byte) (again time.Time, err error) {
	var ref tokenRef
	if err := json.Unmarshal(payload, &ref); err != nil {
		return time.Time{}, fmt.Errorf("membership: the payload of a task: %w", err)
	}
	token, err := s.openQueued(ref.Token)
	if err != nil { // the key file was replaced; the sweep of the inbox puts the task again
		return time.Time{}, nil
	}
	return time.Time{}, s.notified(ctx, token, ref.origin, ref.OneTime)
}

// notified asks the store about the token of notifications, and ends those that had
// arrived before it was asked.
func (s *Service) notified(ctx context.Context, token string, from origin, oneTime bool) error {
	last, err := s.db.LastMessage(ctx)
	if err != nil {
		return err
	}
	digest := digestOf(s.box(), token)
	var done applied
	store, selling, err := s.openToken(ctx, digest, from)
	if err == nil {
		done, err = s.readAndApply(ctx, store, selling, token, request{cause: causeNotification, oneTime: oneTime})
	}
	if retry := s.taskError(err); retry != nil {
		return retry
	}
	return s.db.EndMessages(ctx, digest, last, s.timestamp(), notifiedResult(done, err))
}

// notifiedResult is what the list of notifications says of one.
func notifiedResult(done applied, err error) string {
	switch {
	case fault.Of(err) != nil:
		return fault.Of(err).Code
	case done.purchase.ID == 0:
		return "no owner yet"
	}
	return done.result
}

// ReceivedMessage is a notification as lists show it: without its body.
type ReceivedMessage struct {
	ID          int64
	MessageID   string
	Kind        play.NotificationKind
	Code        int64
	ReceivedAt  time.Time
	ProcessedAt time.Time // zero: not yet
	Result      string
}

// Messages lists notifications before an id, newest first; 0 for from the newest on.
func (s *Service) Messages(ctx context.Context, actor people.Actor, before int64, limit int) ([]ReceivedMessage, error) {
	if err := s.access.May(actor, access.ManageMembers); err != nil {
		return nil, err
	}
	rows, err := s.db.Messages(ctx, before, min(max(limit, 1), maxPurchases))
	return sqldb.Convert(rows, func(m addondb.Message) ReceivedMessage {
		return ReceivedMessage{
			ID: m.ID, MessageID: m.MessageID, Kind: play.NotificationKind(m.Kind), Code: m.Code,
			ReceivedAt: m.ReceivedAt.Time, ProcessedAt: m.ProcessedAt.Time, Result: m.Result,
		}
	}), err
}

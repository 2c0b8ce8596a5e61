package play

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
)

// MaxPull is how many messages one call can pull.
const MaxPull = 1000

var queuePattern = regexp.MustCompile(`^projects/[A-Za-z0-9][A-Za-z0-9.:_-]{0,127}/subscriptions/[A-Za-z][A-Za-z0-9._~+-]{2,254}$`)

// ValidSubscription reports whether a name can be that of a Pub/Sub subscription, with its project.
func ValidSubscription(name string) bool { return queuePattern.MatchString(name) }

// Message is a message that was pulled.
type Message struct {
	// AckID is for [Client.AcknowledgeMessages].
	AckID string
	// Body is the message in the form of a push, for [ParsePush].
	Body []byte
}

// Pull returns messages of a Pub/Sub subscription, projects/…/subscriptions/…, without
// deleting them. It waits for the first one, at most half a minute. Without messages it returns an empty list and no error.
func (c *Client) Pull(ctx context.Context, subscription string, most int) ([]Message, error) {
	var answer struct {
		ReceivedMessages []struct {
			AckID   string          `json:"ackId"`
			Message json.RawMessage `json:"message"`
		} `json:"receivedMessages"`
	}
	waiting, cancel := context.WithTimeout(ctx, pullTimeout)
	defer cancel()
	body := map[string]any{"maxMessages": min(max(most, 1), MaxPull)}
	if err := c.askPubSub(waiting, subscription, "pull", body, &answer); err != nil {
		if waiting.Err() != nil && ctx.Err() == nil {
			return nil, nil
		}
		return nil, err
	}
	list := make([]Message, 0, len(answer.ReceivedMessages))
	for _, m := range answer.ReceivedMessages {
		body, err := json.Marshal(map[string]any{"message": m.Message, "subscription": subscription})
		if err != nil {
			return nil, &Error{Reason: Unavailable, Cause: errors.New("the answer of Pub/Sub is not valid")}
		}
		list = append(list, Message{AckID: m.AckID, Body: body})
	}
	return list, nil
}

// AcknowledgeMessages deletes messages that were pulled.
func (c *Client) AcknowledgeMessages(ctx context.Context, subscription string, ackIDs []string) error {
	if len(ackIDs) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return c.askPubSub(ctx, subscription, "acknowledge", map[string]any{"ackIds": ackIDs}, &struct{}{})
}

// askPubSub posts a request to Pub/Sub and reads the answer.
func (c *Client) askPubSub(ctx context.Context, subscription, action string, body, answer any) error {
	if !ValidSubscription(subscription) {
		return &Error{Reason: Refused, Cause: errors.New("invalid subscription: expected projects/…/subscriptions/…")}
	}
	return c.send(ctx, c.pubSub, request{method: http.MethodPost, path: subscription + ":" + action, body: body, about: aboutApp}, answer)
}

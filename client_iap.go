package countersign

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// storeWait is how much longer a call may take for which the addon asks the app's store.
const storeWait = 20 * time.Second

// caller is a Client with what proves who calls.
type caller struct {
	*Client
	prove func(req *http.Request, body []byte)
}

// call sends an operation and returns the object of its response. check says what is missing in it.
func call[T any](ctx context.Context, c caller, name string, r operation, check func(T) error) (T, *answer, error) {
	var value, none T
	r.sign, r.limit = c.prove, maxAnswer
	a, err := c.do(ctx, r)
	if err == nil && !a.unchanged() {
		if err = json.Unmarshal(a.body, &value); err == nil {
			err = check(value)
		}
		if err != nil {
			err = a.notUnderstood(err)
		}
	}
	if err != nil {
		return none, a, c.wrap(name, a.withDetails(err))
	}
	return value, a, nil
}

// withDetails adds what the addon says of an error besides its message.
func (a *answer) withDetails(err error) error {
	var body struct {
		Details struct {
			Reason string            `json:"reason"`
			Fields map[string]string `json:"fields"`
		} `json:"details"`
	}
	apiErr, ok := errors.AsType[*Error](err)
	if !ok || json.Unmarshal(a.body, &body) != nil {
		return err
	}
	if body.Details.Reason != "" {
		apiErr.Cause = errors.New(a.redact(body.Details.Reason))
	}
	for name, problem := range body.Details.Fields {
		if apiErr.Fields == nil {
			apiErr.Fields = map[string]string{}
		}
		apiErr.Fields[a.redact(name)] = a.redact(problem)
	}
	return err
}

// sending is an operation with a body. One value of it can always be encoded.
func sending(path string, body any) operation {
	text, _ := EncodeJSON(body)
	return operation{method: http.MethodPost, path: path, body: text}
}

type membershipAnswer struct {
	Membership IAPMembership `json:"membership"`
}

// readMembership reads a membership, or returns last when it has not changed since.
func (c caller) readMembership(ctx context.Context, path string, query url.Values, last IAPMembershipRead) (IAPMembershipRead, error) {
	r := operation{method: http.MethodGet, path: path, query: query, ifNoneMatch: last.ETag}
	found, a, err := call(ctx, c, "membership", r, func(m membershipAnswer) error { return missing(m.Membership.Status, "no membership in it") })
	if err != nil {
		return IAPMembershipRead{}, err
	}
	if a.unchanged() {
		return last, nil
	}
	return IAPMembershipRead{IAPMembership: found.Membership, ETag: a.etag}, nil
}

// readPurchases reads a page of purchases.
func (c caller) readPurchases(ctx context.Context, path, cursor string, limit int) (IAPPurchases, error) {
	query := url.Values{}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	if limit != 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	page, _, err := call(ctx, c, "purchases", operation{method: http.MethodGet, path: path, query: query}, func(p IAPPurchases) error {
		if p.Purchases == nil {
			return errors.New("no list of purchases in it")
		}
		return nil
	})
	return page, err
}

package countersign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Client calls the four endpoints of a store (spec 4.1 to 4.4) and those of licenses. BaseURL is required, and Key for
// all but licenses, for which a purchase code is the credential. Its methods may be called from several goroutines at once, as long as nobody changes its fields.
//
// A method returns an *[Error] when the store refused, a *[NotJSONError] when the answer can't be understood, a
// *[RedirectError], [ErrAnswerTooLarge], or the error of the network or of ctx, each wrapped. No error text and no
// printed Client holds the key.
type Client struct {
	// BaseURL is where the store is, for example "https://shop.example"; a path is kept, a query is refused.
	BaseURL string
	// Key is the workspace's API key; white space around it is ignored.
	Key string
	// HTTP makes the requests; its redirect policy is not used. Nil means http.DefaultTransport and a timeout of 10 s
	// for each attempt.
	HTTP *http.Client
	// Retries is how often a call is repeated after a network error, a 429 or a 5xx: all calls can be
	// repeated without effect. 0 means twice, a negative number never.
	Retries int
}

// Validation is the store's answer to the question whether a purchase code is good.
type Validation struct {
	// Valid says that the code is good; Purchase is set then.
	Valid    bool
	Purchase Purchase
	// Reason is the store's X-Error-Code when the code is not good: one of the CodePurchase constants, or empty when
	// the store gave none.
	Reason string
}

// The longest answers that are read, in bytes.
const (
	maxAnswer = 1 << 20
	maxItems  = 32 << 20
)

// Account returns the account that the key belongs to (spec 4.1).
func (c *Client) Account(ctx context.Context) (Account, error) {
	a, err := c.call(ctx, call{method: http.MethodGet, path: "api/account/details", limit: maxAnswer})
	var account Account
	if err == nil {
		err = a.decode("data", a.members.Data, &account)
	}
	if err != nil {
		return Account{}, c.wrap("account", err)
	}
	return account, nil
}

// Items returns all items of the key's workspace (spec 4.2). A workspace without items gives an empty list and no
// error, although a store calls that an error.
func (c *Client) Items(ctx context.Context) ([]Item, error) {
	a, err := c.call(ctx, call{method: http.MethodGet, path: "api/items/all", limit: maxItems})
	if a.saysNoItems() {
		return []Item{}, nil
	}
	var items []Item
	if err == nil {
		err = a.decode("items", a.members.Items, &items)
	}
	if err != nil {
		return nil, c.wrap("items", err)
	}
	return items, nil
}

// Item returns one item (spec 4.3). An id that the key's workspace does not have is an *[Error] of KindNotFound.
func (c *Client) Item(ctx context.Context, id int64) (Item, error) {
	query := url.Values{"item_id": {strconv.FormatInt(id, 10)}}
	a, err := c.call(ctx, call{method: http.MethodGet, path: "api/items/item", query: query, limit: maxAnswer})
	var item Item
	if err == nil {
		err = a.decode("item", a.members.Item, &item)
	}
	if err != nil {
		return Item{}, c.wrap("item", err)
	}
	return item, nil
}

// ValidatePurchase asks whether a purchase code is good (spec 4.4). A nil error means that the store said yes or no.
// An error means that nobody can tell: the network, a limit, a fault of the store, a key that it does not accept, or
// an answer that can't be understood. A program should not take a customer's rights away because of an error.
func (c *Client) ValidatePurchase(ctx context.Context, code string) (Validation, error) {
	body, err := EncodeJSON(map[string]string{"purchase_code": code})
	if err != nil {
		return Validation{}, c.wrap("validate purchase", err)
	}
	a, err := c.call(ctx, call{
		method: http.MethodPost, path: "api/purchases/validation", body: body, limit: maxAnswer,
	})
	if a.saysNotValid() {
		return Validation{Reason: a.errorCode}, nil
	}
	var data struct {
		Purchase *Purchase `json:"purchase"`
	}
	if err == nil {
		err = a.decode("data", a.members.Data, &data)
	}
	if err == nil && data.Purchase == nil {
		err = a.notUnderstood(errors.New("no purchase in it"))
	}
	if err != nil {
		return Validation{}, c.wrap("validate purchase", err)
	}
	return Validation{Valid: true, Purchase: *data.Purchase}, nil
}

// call is one request of the API; limit is the longest answer in bytes. A success of a plain one is no envelope.
type call struct {
	method, path string
	query        url.Values
	body         []byte
	limit        int64
	plain        bool
}

const userAgent = "countersign-go (+https://github.com/countersign/countersign)"

// request makes the HTTP request of one attempt. The key travels in a header, which logs and caches leave alone.
func (c *Client) request(ctx context.Context, r call) (*http.Request, error) {
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" {
		return nil, errors.New("the base URL is not an http or https address")
	}
	if base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("the base URL has a query or a fragment")
	}
	u := base.JoinPath(r.path)
	u.RawQuery = r.query.Encode()
	req, err := http.NewRequestWithContext(ctx, r.method, u.String(), bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("X-Api-Key", c.key())
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

func (c *Client) key() string { return strings.TrimSpace(c.Key) }

// redact takes the key out of text that came from elsewhere: a server may repeat what it was sent.
func (c *Client) redact(s string) string {
	key := c.key()
	if key == "" {
		return s
	}
	return strings.NewReplacer(key, "[key]", url.QueryEscape(key), "[key]").Replace(s)
}

// wrap names the operation that failed, and sees to it that the text does not hold the key.
func (c *Client) wrap(operation string, err error) error {
	err = fmt.Errorf("countersign: %s: %w", operation, err)
	if text := c.redact(err.Error()); text != err.Error() {
		return &redactedError{text, err}
	}
	return err
}

// redactedError is an error whose text would have held the key.
type redactedError struct {
	text  string
	cause error
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.cause }

// String describes the client without its key.
func (c Client) String() string {
	return c.redact("countersign.Client{" + redactedURL(c.BaseURL) + "}")
}

// Format prints [Client.String] for every verb, so that no way of printing shows the key.
func (c Client) Format(w fmt.State, _ rune) {
	_, _ = io.WriteString(w, c.String())
}

// MarshalText gives [Client.String], so that structured logs do not show the key either.
func (c Client) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// redactedURL prints an address without the password in it.
func redactedURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return "?"
	}
	return u.Redacted()
}

package countersign

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
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
	// secret is what an [AddonClient] signs with, for redaction.
	secret string
}

// Validation is the result of validating a purchase code.
type Validation struct {
	// Valid reports that the code is valid; Purchase is set then.
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
	account, _, err := fetch[Account](ctx, c, "account", operation{method: http.MethodGet, path: "api/account/details", limit: maxAnswer}, "data")
	return account, err
}

// Items returns all items of the key's workspace (spec 4.2). A workspace without items gives an empty list and no
// error, although a store calls that an error.
func (c *Client) Items(ctx context.Context) ([]Item, error) {
	items, a, err := fetch[[]Item](ctx, c, "items", operation{method: http.MethodGet, path: "api/items/all", limit: maxItems}, "items")
	if a.saysNoItems() {
		return []Item{}, nil
	}
	return items, err
}

// Item returns one item (spec 4.3). An id that the key's workspace does not have is an *[Error] of KindNotFound.
func (c *Client) Item(ctx context.Context, id int64) (Item, error) {
	query := url.Values{"item_id": {strconv.FormatInt(id, 10)}}
	item, _, err := fetch[Item](ctx, c, "item", operation{method: http.MethodGet, path: "api/items/item", query: query, limit: maxAnswer}, "item")
	return item, err
}

// ValidatePurchase validates a purchase code (spec 4.4). A nil error means that the store answered. An error means that
// the result is unknown: network, limit, a failure of the store, a refused key, or an unreadable response. Do not
// remove a customer's rights because of an error.
func (c *Client) ValidatePurchase(ctx context.Context, code string) (Validation, error) {
	type data struct {
		Purchase *Purchase `json:"purchase"`
	}
	sent := map[string]string{"purchase_code": code}
	found, a, err := post(ctx, c, "validate purchase", "api/purchases/validation", sent, func(d data) error {
		if d.Purchase == nil {
			return errors.New("no purchase in it")
		}
		return nil
	})
	if a.saysNotValid() {
		return Validation{Reason: a.errorCode}, nil
	}
	if err != nil {
		return Validation{}, err
	}
	return Validation{Valid: true, Purchase: *found.Purchase}, nil
}

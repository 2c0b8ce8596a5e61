package countersign

import (
	"context"
	"errors"
	"net/http"
)

// Client calls the four endpoints of a store. Its methods may be called from several goroutines at once.
type Client struct {
	BaseURL string
	Key     string `json:"-"`
	HTTP    *http.Client
	Retries int
}

// Validation is the answer to the question whether a purchase code is good. Purchase is set when Valid is true.
// Reason is the store's X-Error-Code when Valid is false, and may be empty.
type Validation struct {
	Valid    bool
	Purchase Purchase
	Reason   string
}

var errNotYet = errors.New("countersign: the client is not written yet")

// Account returns the account that the key belongs to (spec 4.1).
func (c *Client) Account(ctx context.Context) (Account, error) { return Account{}, errNotYet }

// Items returns all items of the key's workspace (spec 4.2).
func (c *Client) Items(ctx context.Context) ([]Item, error) { return nil, errNotYet }

// Item returns one item (spec 4.3).
func (c *Client) Item(ctx context.Context, id int64) (Item, error) { return Item{}, errNotYet }

// ValidatePurchase asks whether a purchase code is good (spec 4.4).
func (c *Client) ValidatePurchase(ctx context.Context, code string) (Validation, error) {
	return Validation{}, errNotYet
}

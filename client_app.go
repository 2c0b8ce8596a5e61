package countersign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// AppClient calls an addon for a user of an app. BaseURL is required, and Key and UserToken for all but IAPConfig. An app
// never has the API secret. Its methods may be called from several goroutines at once, as long as nobody changes its
// fields, and return the errors of a [Client]. An *[Error] with the code user_token_expired asks for a new user token. No
// error text and no printed AppClient holds the key or the token.
type AppClient struct {
	// BaseURL is where the site is, for example "https://site.example"; a path is kept, a query is refused.
	BaseURL string
	// Key is the API key; white space around it is ignored.
	Key string
	// UserToken is the token that the site handed to the app for its user: [AddonClient.UserToken].
	UserToken string
	// HTTP makes the requests, and Retries is how often a call is repeated, as in a [Client]. Calls that ask the
	// app's store may take 20 s longer than the timeout of HTTP.
	HTTP    *http.Client
	Retries int
}

// IAPConfig returns what the app sells (spec 2.7). It needs neither key nor token.
func (c *AppClient) IAPConfig(ctx context.Context) (IAPConfig, error) {
	client := c.caller()
	a, err := client.do(ctx, operation{method: http.MethodGet, path: "api-addons/iap/config", limit: maxAnswer, plain: true})
	var config IAPConfig
	if err == nil {
		if err = json.Unmarshal(a.body, &config); err == nil && config.Products == nil {
			err = errors.New("no list of products in it")
		}
		if err != nil {
			err = a.notUnderstood(err)
		}
	}
	if err != nil {
		return IAPConfig{}, client.wrap("in-app purchases", err)
	}
	return config, nil
}

// Intent returns what the app has to know before a purchase. known lists the SHA-256, in hex, of purchase tokens that the
// device has; it may be nil.
func (c *AppClient) Intent(ctx context.Context, known []string) (IAPIntent, error) {
	sent := map[string]any{"known_tokens_sha256": List(known)}
	intent, _, err := call(ctx, c.caller(), "intent", sending("api-addons/iap/intents", sent), func(i IAPIntent) error {
		return missing(i.AccountID, "no account id in it")
	})
	return intent, err
}

// VerifyPurchase has the addon verify a purchase with the store and activate what was bought. productID may be empty. The
// same token can be sent again. See [IAPVerification.Pending]. An *[Error] whose Retryable is true does not mean that the
// purchase failed: verify it again later.
func (c *AppClient) VerifyPurchase(ctx context.Context, purchaseToken, productID string) (IAPVerification, error) {
	sent := map[string]string{"platform": "store", "purchase_token": purchaseToken}
	if productID != "" {
		sent["product_id"] = productID
	}
	r := sending("api-addons/iap/verify", sent)
	r.extraTime = storeWait
	verified, _, err := call(ctx, c.caller(), "verify purchase", r, func(v IAPVerification) error { return missing(v.Result, "no result in it") })
	return verified, err
}

// RestorePurchases has the addon verify up to 20 purchases that the app found on the device. Some may fail: each has its
// own result or error, in the order of the tokens.
func (c *AppClient) RestorePurchases(ctx context.Context, purchaseTokens []string) (IAPRestore, error) {
	r := sending("api-addons/iap/restore", map[string]any{"platform": "store", "purchase_tokens": List(purchaseTokens)})
	r.extraTime = storeWait
	restored, _, err := call(ctx, c.caller(), "restore purchases", r, func(r IAPRestore) error { return missing(r.Membership.Status, "no membership in it") })
	return restored, err
}

// BuySimulated buys in the simulated store while the site is in test mode, in place of the purchase flow of the store.
// replacesToken is the purchase token of the user's subscription that this one replaces, "" for none. The call can be
// repeated: while the user has the product, it returns the token of that subscription.
func (c *AppClient) BuySimulated(ctx context.Context, productID, replacesToken string) (IAPSimulatedPurchase, error) {
	sent := map[string]string{"product_id": productID}
	if replacesToken != "" {
		sent["replaces_token"] = replacesToken
	}
	bought, _, err := call(ctx, c.caller(), "buy in test mode", sending("api-addons/iap/simulated/purchases", sent), func(p IAPSimulatedPurchase) error {
		return missing(p.PurchaseToken, "no purchase token in it")
	})
	return bought, err
}

// Membership returns what the user has. last is what an earlier call returned, or its zero value: it is returned again
// when nothing changed, and the addon then sends no body.
func (c *AppClient) Membership(ctx context.Context, last IAPMembershipRead) (IAPMembershipRead, error) {
	return c.caller().readMembership(ctx, "api-addons/iap/membership", nil, last)
}

// SignedMembership is Membership with a token in it, for an app that loses its connection. The token is valid for up to 24
// hours. last is what an earlier call of SignedMembership returned.
func (c *AppClient) SignedMembership(ctx context.Context, last IAPMembershipRead) (IAPMembershipRead, error) {
	return c.caller().readMembership(ctx, "api-addons/iap/membership", url.Values{"token": {"1"}}, last)
}

// Purchases returns a page of the user's purchases, newest first. cursor is the Next of the page before, "" for the first
// one. A limit of 0 leaves the size to the addon, which sends at most 100.
func (c *AppClient) Purchases(ctx context.Context, cursor string, limit int) (IAPPurchases, error) {
	return c.caller().readPurchases(ctx, "api-addons/iap/purchases", cursor, limit)
}

// caller makes the requests.
func (c *AppClient) caller() caller {
	token := strings.TrimSpace(c.UserToken)
	return caller{&Client{BaseURL: c.BaseURL, Key: c.Key, HTTP: c.HTTP, Retries: c.Retries, secret: token}, func(req *http.Request, _ []byte) {
		req.Header.Set("Authorization", "Bearer "+token)
	}}
}

// String describes the client without its key and its token.
func (c AppClient) String() string {
	return c.caller().redact("countersign.AppClient{" + redactedURL(c.BaseURL) + "}")
}

// Format prints [AppClient.String] for every verb, so that no way of printing shows key or token.
func (c AppClient) Format(w fmt.State, _ rune) {
	_, _ = io.WriteString(w, c.String())
}

// MarshalText returns [AppClient.String], so that structured logs do not show key or token either.
func (c AppClient) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

package api

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/limit"
	"github.com/countersign/countersign/internal/web"
)

// What a user can do in a minute: have purchase tokens verified, and intend purchases.
const (
	maxVerifications = 30
	maxIntents       = 60
)

// appBody returns the user of the app that sent a request, and reads the members of its body
// into in.
func (f *frontEnd) appBody(w http.ResponseWriter, r *http.Request, in any) (user string, err error) {
	app, err := f.appUser(w, r)
	if err != nil {
		return "", err
	}
	body, err := readBody(w, r, maxPurchaseBody)
	if err != nil {
		return "", err
	}
	return app.ID, decode(r, body, in)
}

// addIntent answers POST /api-addons/iap/intents: what an app has to know before a purchase.
func (f *frontEnd) addIntent(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Known []string `json:"known_tokens_sha256"`
	}
	user, err := f.appBody(w, r, &in)
	if err != nil {
		return err
	}
	if err := take(w, f.intents, user, maxIntents, 1); err != nil {
		return err
	}
	known := make([][sha256.Size]byte, len(in.Known))
	for i, text := range in.Known {
		sum, err := hex.DecodeString(text)
		if err != nil || len(sum) != sha256.Size {
			return fault.Invalid(codeInvalidRequest, "known_tokens_sha256 lists SHA-256 sums of purchase tokens, in hex")
		}
		known[i] = [sha256.Size]byte(sum)
	}
	intent, err := f.addon.Members.Intend(r.Context(), user, known)
	if err != nil {
		return publicPurchase(err)
	}
	answer := countersign.IAPIntent{AccountID: intent.AccountID, Current: intent.Current, Membership: intent.Membership, Warnings: []string{}}
	if intent.Current != nil {
		answer.Warnings = append(answer.Warnings, "already_subscribed")
	}
	if intent.OwnedByOther {
		answer.Warnings = append(answer.Warnings, "owned_by_other_user")
	}
	return web.Object(w, struct {
		Status string `json:"status"`
		countersign.IAPIntent
	}{"success", answer})
}

// verifyPurchase answers POST /api-addons/iap/verify: a purchase is verified with the store, and
// what was bought is activated.
func (f *frontEnd) verifyPurchase(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Platform string         `json:"platform"`
		Token    string         `json:"purchase_token"`
		Product  string         `json:"product_id"`
		Client   jsontext.Value `json:"client"` // for logs of proxies
	}
	user, err := f.appBody(w, r, &in)
	if err != nil {
		return err
	}
	if err := checkPlatform(in.Platform); err != nil {
		return err
	}
	if err := take(w, f.verifications, user, maxVerifications, 1); err != nil {
		return err
	}
	withoutReadDeadline(w)
	done, err := f.addon.Members.Verify(r.Context(), user, in.Token, in.Product)
	if err != nil {
		return publicPurchase(err)
	}
	if done.Membership.Token, err = f.addon.Members.Sign(r.Context(), f.issuer(w, r), user, done.Membership); err != nil {
		return publicPurchase(err)
	}
	status, body := done.Answer()
	if status == http.StatusAccepted {
		return web.Accepted(w, body)
	}
	return web.Object(w, body)
}

// restorePurchases answers POST /api-addons/iap/restore: the purchases that were found on a device
// are verified. Some may fail.
func (f *frontEnd) restorePurchases(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Platform string         `json:"platform"`
		Tokens   []string       `json:"purchase_tokens"`
		Client   jsontext.Value `json:"client"`
	}
	user, err := f.appBody(w, r, &in)
	if err != nil {
		return err
	}
	if err := checkPlatform(in.Platform); err != nil {
		return err
	}
	if err := take(w, f.verifications, user, maxVerifications, min(len(in.Tokens), maxVerifications)); err != nil {
		return err
	}
	withoutReadDeadline(w)
	results, m, err := f.addon.Members.Restore(r.Context(), user, in.Tokens)
	if err != nil {
		return publicPurchase(err)
	}
	answer := countersign.IAPRestore{Results: make([]countersign.IAPRestored, len(results)), Membership: m}
	for i, one := range results {
		answer.Results[i] = f.restored(w, one)
	}
	if answer.Membership.Token, err = f.addon.Members.Sign(r.Context(), f.issuer(w, r), user, m); err != nil {
		return publicPurchase(err)
	}
	return web.Object(w, struct {
		Status string `json:"status"`
		countersign.IAPRestore
	}{"success", answer})
}

// restored is what became of one token. An error that is not the caller's goes to the log.
func (f *frontEnd) restored(w http.ResponseWriter, one membership.RestoredPurchase) countersign.IAPRestored {
	done := countersign.IAPRestored{TokenSHA256: one.TokenSHA256, Result: one.Outcome.Result}
	if one.Err == nil {
		return done
	}
	shown := fault.Of(publicPurchase(one.Err))
	if shown == nil || shown.Kind == countersign.KindInternal {
		if f.Log != nil {
			f.Log.Error("a purchase could not be restored", "request", web.RequestID(w), "cause", one.Err)
		}
		shown = &countersign.Error{Kind: countersign.KindInternal, Code: countersign.CodeInternal, Message: countersign.MsgInternal}
	}
	done.Error = &countersign.IAPRestoreError{Code: shown.Code, Message: shown.Message, Retryable: isRetryable(shown.Kind)}
	return done
}

// checkPlatform returns an error for a platform that does not exist (spec 2.7). An app may leave
// it out.
func checkPlatform(name string) error {
	if name != "" && name != "store" {
		return fault.Invalid(codeInvalidRequest, "The platform is store")
	}
	return nil
}

// withoutReadDeadline is for a handler that has read its body and then waits, for the app's store
// or for events: net/http ends a request whose connection is silent for as long as a body may take.
func withoutReadDeadline(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // a writer without deadlines has none to move
}

// take counts n calls of a user, and refuses those that are more than a minute allows.
func take(w http.ResponseWriter, calls *limit.Window[string], user string, most, n int) error {
	for range n {
		if !calls.Take(user, most) {
			return web.Refuse(w, countersign.CodeRateLimited, most, 0, calls.Retry(user))
		}
	}
	return nil
}

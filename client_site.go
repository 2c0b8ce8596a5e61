package countersign

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// UserMembership returns what a user of the site has. last is what an earlier call for this user returned, or its zero
// value: it is returned again when nothing changed, and the addon then sends no body.
func (c *AddonClient) UserMembership(ctx context.Context, userID string, last IAPMembershipRead) (IAPMembershipRead, error) {
	path, err := userPath("membership", userID, "membership")
	if err != nil {
		return IAPMembershipRead{}, err
	}
	return c.caller().readMembership(ctx, path, nil, last)
}

// UserPurchases returns a page of the purchases of a user, newest first, as [AppClient.Purchases] does.
func (c *AddonClient) UserPurchases(ctx context.Context, userID, cursor string, limit int) (IAPPurchases, error) {
	path, err := userPath("purchases", userID, "purchases")
	if err != nil {
		return IAPPurchases{}, err
	}
	return c.caller().readPurchases(ctx, path, cursor, limit)
}

// Grants lists the memberships that the site granted to a user, those that have ended too.
func (c *AddonClient) Grants(ctx context.Context, userID string) ([]IAPGrant, error) {
	path, err := userPath("grants", userID, "grants")
	if err != nil {
		return nil, err
	}
	type grants struct {
		Grants []IAPGrant `json:"grants"`
	}
	found, _, err := call(ctx, c.caller(), "grants", operation{method: http.MethodGet, path: path}, func(g grants) error {
		if g.Grants == nil {
			return errors.New("no list of grants in it")
		}
		return nil
	})
	return found.Grants, err
}

// Grant grants a user a package, until a time or, with the zero time, without an end. reason is for the site's own people.
// The call is never repeated by itself: after a network error, look at [AddonClient.Grants] first.
func (c *AddonClient) Grant(ctx context.Context, userID string, packageID int64, until time.Time, reason string) (IAPGrant, error) {
	path, err := userPath("grant", userID, "grants")
	if err != nil {
		return IAPGrant{}, err
	}
	sent := map[string]any{"package_id": packageID, "reason": reason}
	if !until.IsZero() {
		sent["until"] = At(until)
	}
	r := sending(path, sent)
	r.once = true
	return c.grant(ctx, "grant", r)
}

// RemoveGrant ends a grant now.
func (c *AddonClient) RemoveGrant(ctx context.Context, userID string, grantID int64) (IAPGrant, error) {
	path, err := userPath("remove grant", userID, "grants/"+strconv.FormatInt(grantID, 10))
	if err != nil {
		return IAPGrant{}, err
	}
	return c.grant(ctx, "remove grant", operation{method: http.MethodDelete, path: path})
}

func (c *AddonClient) grant(ctx context.Context, name string, r operation) (IAPGrant, error) {
	type one struct {
		Grant IAPGrant `json:"grant"`
	}
	found, _, err := call(ctx, c.caller(), name, r, func(g one) error { return missing(g.Grant.UserID, "no grant in it") })
	return found.Grant, err
}

// RefreshPurchase has the addon read a purchase from the store again.
func (c *AddonClient) RefreshPurchase(ctx context.Context, purchaseID string) (IAPPurchase, error) {
	return c.actOnPurchase(ctx, "refresh", purchaseID, struct{}{}, false)
}

// TransferPurchase moves a purchase to another user of the site.
func (c *AddonClient) TransferPurchase(ctx context.Context, purchaseID, toUserID, reason string) (IAPPurchase, error) {
	return c.actOnPurchase(ctx, "transfer", purchaseID, map[string]string{"to_user_id": toUserID, "reason": reason}, true)
}

// RefusePurchase decides, after the event purchase.owner_unknown, that a user is not the owner of a purchase.
// [AddonClient.TransferPurchase] is the opposite decision.
func (c *AddonClient) RefusePurchase(ctx context.Context, purchaseID, userID, reason string) (IAPPurchase, error) {
	return c.actOnPurchase(ctx, "refuse", purchaseID, map[string]string{"user_id": userID, "reason": reason}, true)
}

// CancelPurchase stops the renewals of a purchase in the store. After a final one, the user can't restart them there. The
// paid time remains. The call is never repeated by itself.
func (c *AddonClient) CancelPurchase(ctx context.Context, purchaseID string, final bool) (IAPPurchase, error) {
	return c.actOnPurchase(ctx, "cancel", purchaseID, map[string]bool{"final": final}, true)
}

// RevokePurchase refunds a purchase in the store and ends it now. A prorated one refunds only the rest of the period. The
// call is never repeated by itself.
func (c *AddonClient) RevokePurchase(ctx context.Context, purchaseID string, prorated bool) (IAPPurchase, error) {
	return c.actOnPurchase(ctx, "revoke", purchaseID, map[string]bool{"prorated": prorated}, true)
}

func (c *AddonClient) actOnPurchase(ctx context.Context, action, purchaseID string, sent any, once bool) (IAPPurchase, error) {
	name := action + " purchase"
	if purchaseID == "" {
		return IAPPurchase{}, errors.New("countersign: " + name + ": the purchase's id is missing")
	}
	type one struct {
		Purchase IAPPurchase `json:"purchase"`
	}
	r := sending("api-addons/iap/purchases/"+segment(purchaseID)+"/"+action, sent)
	r.once, r.extraTime = once, storeWait
	found, _, err := call(ctx, c.caller(), name, r, func(p one) error { return missing(p.Purchase.ID, "no purchase in it") })
	return found.Purchase, err
}

// Events returns the events after a place of the feed: store the Cursor, and pass it as after the next time. At most limit
// are returned, 0 leaves their number to the addon. With wait, up to 25 s and in whole seconds, an empty feed is returned
// only after that time; a timeout of HTTP counts from then on.
func (c *AddonClient) Events(ctx context.Context, after int64, limit int, wait time.Duration) (IAPFeed, error) {
	query := url.Values{"after": {strconv.FormatInt(after, 10)}}
	if limit != 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	if seconds := int64(wait / time.Second); seconds != 0 {
		query.Set("wait", strconv.FormatInt(seconds, 10))
	}
	r := operation{method: http.MethodGet, path: "api-addons/iap/events", query: query, extraTime: max(0, wait)}
	feed, _, err := call(ctx, c.caller(), "events", r, func(f IAPFeed) error {
		if f.Events == nil {
			return errors.New("no list of events in it")
		}
		return nil
	})
	return feed, err
}

func (c *AddonClient) caller() caller { return caller{c.client(), c.sign} }

// userPath is the path of something of a user. name is the operation in its error.
func userPath(name, userID, rest string) (string, error) {
	if userID == "" {
		return "", errors.New("countersign: " + name + ": the user's id is missing")
	}
	return "api-addons/iap/users/" + segment(userID) + "/" + rest, nil
}

// segment is text as one segment of a path. Dots alone would lead elsewhere.
func segment(text string) string {
	switch text {
	case ".":
		return "%2E"
	case "..":
		return "%2E%2E"
	}
	return url.PathEscape(text)
}

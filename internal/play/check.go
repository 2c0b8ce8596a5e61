package play

import (
	"context"
	"errors"
	"net/url"
	"time"
)

// Names of the checks, in their order.
const (
	CheckKey      = "key"
	CheckToken    = "token"
	CheckPackage  = "package"
	CheckVoided   = "voided"
	CheckProducts = "products"
)

// Check is one part of the connection to Google.
type Check struct {
	Name string
	OK   bool
	// Problem says what is missing and how to fix it, "" when OK.
	Problem string
	// Err is the error behind the problem, nil when OK or not tried.
	Err error
}

// impossibleToken can't be the token of a purchase.
const impossibleToken = "connection-check.not-a-purchase-token"

// Check tests the connection step by step: the key, the access token, the package, the
// permission for refunds, the catalogue. It changes nothing at Google.
func (c *Client) Check(ctx context.Context) []Check {
	checks := []Check{{Name: CheckKey, OK: true}}
	_, err := c.tokens.get(ctx)
	checks = append(checks, checkOf(CheckToken, err))
	if err != nil {
		for _, name := range []string{CheckPackage, CheckVoided, CheckProducts} {
			checks = append(checks, Check{Name: name, Problem: "Not checked without an access token."})
		}
		return checks
	}
	_, err = c.Subscription(ctx, impossibleToken)
	if ours, ok := errors.AsType[*Error](err); ok && (ours.Reason == TokenNotFound || ours.Reason == InvalidToken || ours.Reason == Gone) {
		err = nil // Google looked for the token, so it knows the package
	}
	checks = append(checks, checkOf(CheckPackage, err))
	_, _, err = c.Voided(ctx, c.now().Add(-time.Hour), time.Time{}, "")
	checks = append(checks, checkOf(CheckVoided, err))
	listing, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err = c.productPage(listing, url.Values{"pageSize": {"1"}})
	return append(checks, checkOf(CheckProducts, err))
}

// newAccount is what explains a refusal that nothing else explains.
const newAccount = " Permissions of a new service account can take up to 36 hours."

// unauthorized are the fixes of a missing permission.
var unauthorized = map[string]string{
	CheckToken: "Google refused the service account. Check that its key still exists in the cloud console, " +
		"and that the clock of this server is right.",
	CheckPackage: "The service account can't read purchases. Turn on the Google Play Android Developer API in its cloud project, " +
		"and invite its e-mail address in the Play Console under Users and permissions." + newAccount,
	CheckVoided: "The service account can't read refunds. Turn on the permission “View financial data, orders, and cancellation survey responses” " +
		"in the Play Console under Users and permissions." + newAccount,
	CheckProducts: "The service account can't read the products. Turn on the permission “View app information” " +
		"in the Play Console under Users and permissions." + newAccount,
}

func checkOf(name string, err error) Check {
	if err == nil {
		return Check{Name: name, OK: true}
	}
	reason := Unavailable
	if ours, ok := errors.AsType[*Error](err); ok {
		reason = ours.Reason
	}
	return Check{Name: name, Problem: problemOf(name, reason), Err: err}
}

func problemOf(name string, reason Reason) string {
	switch reason {
	case Unauthorized:
		return unauthorized[name]
	case ApplicationNotFound:
		return "Google does not know the package, or the service account can't see it. Check the package name, " +
			"and invite the service account to the app in the Play Console under Users and permissions."
	case Unavailable:
		return "No usable answer from Google. Check that this server reaches Google, and try again later."
	}
	return "Google refused the request. Check the package name and the permissions of the service account."
}

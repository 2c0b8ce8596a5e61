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
	CheckAPI      = "api"
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

// CheckNames lists the checks, in their order.
func CheckNames() []string {
	return []string{CheckKey, CheckToken, CheckAPI, CheckPackage, CheckVoided, CheckProducts}
}

// Check tests the connection step by step: the key, the access token, the API, the package, the
// permission for refunds, the catalogue. It changes nothing at Google.
func (c *Client) Check(ctx context.Context) []Check {
	checks := []Check{{Name: CheckKey, OK: true}}
	_, err := c.tokens.get(ctx)
	checks = append(checks, checkOf(CheckToken, err))
	if err != nil {
		return skipRest(checks, "Not checked without an access token.")
	}
	_, err = c.Subscription(ctx, impossibleToken)
	playErr, _ := errors.AsType[*Error](err)
	switch {
	case playErr != nil && (playErr.Reason == TokenNotFound || playErr.Reason == InvalidToken || playErr.Reason == Gone):
		err = nil // Google looked for the token, so it knows the package
	case playErr != nil && playErr.Detail == apiOff:
		return skipRest(append(checks, checkOf(CheckAPI, err)), "Not checked while the API is off.")
	}
	checks = append(checks, Check{Name: CheckAPI, OK: true}, checkOf(CheckPackage, err))
	_, _, err = c.Voided(ctx, c.now().Add(-time.Hour), time.Time{}, "")
	checks = append(checks, checkOf(CheckVoided, err))
	listing, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err = c.productPage(listing, url.Values{"pageSize": {"1"}})
	return append(checks, checkOf(CheckProducts, err))
}

// apiOff is Google's word for an API that is off in the project of the service account.
const apiOff = "accessNotConfigured"

// skipRest adds the checks that follow the last one, which were not made.
func skipRest(checks []Check, why string) []Check {
	for _, name := range CheckNames()[len(checks):] {
		checks = append(checks, Check{Name: name, Problem: why})
	}
	return checks
}

// newAccount is what explains a refusal that nothing else explains.
const newAccount = " Permissions of a new service account can take up to 36 hours."

// unauthorized are the fixes of a missing permission.
var unauthorized = map[string]string{
	CheckToken: "Google refused the service account. Check that its key still exists in the cloud console, " +
		"and that the clock of this server is right.",
	CheckAPI: "The Google Play Android Developer API is off in the cloud project of the service account. Turn it on there, under APIs and services.",
	CheckPackage: "The service account can't read purchases. Invite its e-mail address in the Play Console under Users and permissions, " +
		"and add the app to its permissions." + newAccount,
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
	if playErr, ok := errors.AsType[*Error](err); ok {
		reason = playErr.Reason
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

package play

import "time"

// Reason is why a call to Google failed.
type Reason string

// The reasons, with what they mean for whoever asked (notes on Google Play, 1.11).
const (
	// InvalidToken is a malformed token, or one of another app.
	InvalidToken Reason = "invalid_token"
	// TokenNotFound is a token that Google does not know, or does not know yet.
	TokenNotFound Reason = "token_not_found"
	// ApplicationNotFound is a package name that does not exist, or that the service account can't see.
	ApplicationNotFound Reason = "application_not_found"
	// Unauthorized means that the service account lacks a permission, or is too new.
	Unauthorized Reason = "unauthorized"
	// Gone is a subscription that ended more than 60 days ago.
	Gone Reason = "gone"
	// Unavailable is an outage, a full quota, or no answer in time.
	Unavailable Reason = "unavailable"
	// Refused is any other refusal of Google.
	Refused Reason = "refused"
	// PushRefused is a push message whose token does not prove that Google sent it.
	PushRefused Reason = "push_refused"
	// Malformed is a notification that can't be read. It stays so when it is sent again.
	Malformed Reason = "malformed"
)

// Error is a failed call to Google. Its text never holds tokens or keys.
type Error struct {
	Reason Reason
	// Detail is Google's word for the reason, "no code" for none.
	Detail string
	// RetryAfter is how long Google asks to wait, 0 when it does not say.
	RetryAfter time.Duration
	// Cause is what the client returned, with tokens and keys taken out.
	Cause error
}

func (e *Error) Error() string {
	if e.Cause == nil {
		return "play: " + string(e.Reason)
	}
	return "play: " + string(e.Reason) + ": " + e.Cause.Error()
}

func (e *Error) Unwrap() error { return e.Cause }

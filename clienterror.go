package countersign

import (
	"errors"
	"fmt"
)

// ErrAnswerTooLarge means that a [Client] stopped reading an answer: 32 MiB for all items, 1 MiB for the others.
var ErrAnswerTooLarge = errors.New("the answer is too large")

// NotJSONError means that an answer is not JSON, or not the JSON of the API: often a page of a proxy or of another
// server at that address.
type NotJSONError struct {
	// Status is the HTTP status of the answer.
	Status int
	// Body is the beginning of the answer, at most 200 bytes, without the key.
	Body string
	// Cause describes what is wrong with it.
	Cause error
}

// Error names the status, the cause and the beginning of the answer.
func (e *NotJSONError) Error() string {
	return fmt.Sprintf("the answer is not the JSON of a store (HTTP %d): %v: %q", e.Status, e.Cause, e.Body)
}

// Unwrap returns the cause.
func (e *NotJSONError) Unwrap() error { return e.Cause }

// RedirectError means that the address sent a [Client] elsewhere. It did not follow, because the key would have gone
// along; when the new address is right, use it as the base URL.
type RedirectError struct {
	// Status is the HTTP status of the answer.
	Status int
	// Location is where it points, as the server wrote it.
	Location string
}

// Error names the status and the place.
func (e *RedirectError) Error() string {
	return fmt.Sprintf("the address redirects to %q (HTTP %d), which is not followed with a key", e.Location, e.Status)
}

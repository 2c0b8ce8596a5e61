package fault

import "strings"

// NextSteps describes what to do about an error, by its code, as the end of a sentence. Each front end has its own, because
// only a front end knows its commands, flags and pages.
type NextSteps map[string]string

// Add returns err with the next step behind its message, and err itself when there is none.
func (n NextSteps) Add(err error) error {
	apiErr := Of(err)
	if apiErr == nil || n[apiErr.Code] == "" {
		return err
	}
	return WithMessage(apiErr, Join(apiErr.Message, n[apiErr.Code]))
}

// Join returns a message with a next step behind it, each of which may be empty.
func Join(message, next string) string {
	if message == "" || next == "" {
		return message + next
	}
	return strings.TrimSuffix(message, ".") + "; " + next
}

package transfer

import (
	"errors"
	"fmt"

	"github.com/countersign/countersign/internal/fault"
)

// badLine is an error of a line, not of the import.
type badLine struct{ error }

func bad(err error) error {
	if apiErr := fault.Of(err); apiErr != nil {
		return reason(apiErr.Message)
	}
	return reason(err.Error())
}

func badf(format string, args ...any) error { return reason(fmt.Sprintf(format, args...)) }

// maxReason is how many characters of a reason are kept: it may quote a cell.
const maxReason = 500

func reason(text string) error {
	if all := []rune(text); len(all) > maxReason {
		text = string(all[:maxReason]) + "…"
	}
	return &badLine{errors.New(text)}
}

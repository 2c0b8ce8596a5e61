package transfer

import (
	"errors"
	"fmt"

	"github.com/countersign/countersign/internal/fault"
)

// badLine is an error of a line, not of the import.
type badLine struct{ error }

func bad(err error) error {
	if ours := fault.Of(err); ours != nil {
		return &badLine{errors.New(ours.Message)}
	}
	return &badLine{err}
}

func badf(format string, args ...any) error { return &badLine{fmt.Errorf(format, args...)} }

package web

import "github.com/countersign/countersign"

// Unavailable gives err, whose part refusal says "not now" to the operator, the fixed sentence of the API. The code
// stays where it says whether something was written, and the cause for the log.
func Unavailable(refusal *countersign.Error, err error) *countersign.Error {
	return &countersign.Error{
		Kind: countersign.KindUnavailable, Code: unavailableCode(refusal.Code), Message: countersign.MsgUnavailable,
		RetryAfter: refusal.RetryAfter, Cause: err,
	}
}

func unavailableCode(code string) string {
	switch code {
	case countersign.CodeBusy, countersign.CodeOutcomeUnknown:
		return code
	}
	return countersign.CodeUnavailable
}

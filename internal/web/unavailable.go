package web

import "github.com/countersign/countersign"

// Unavailable returns the public form of err: the fixed sentence of the API, with err as the cause for the log. refusal
// is the part of err that says "not now" to the operator. Its code stays where it says whether something was written.
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

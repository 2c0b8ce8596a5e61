package web

import (
	"net/http"
	"strconv"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/limit"
)

// Refuse returns the error of somebody who has used up limit and may come back after wait (429), and sets the headers
// RateLimit-Limit, RateLimit-Remaining and RateLimit-Reset (whole seconds). The code is rate_limited or quota_exceeded.
func Refuse(w http.ResponseWriter, code string, limit, remaining int, wait time.Duration) error {
	wait = max(wait, time.Second)
	h := w.Header()
	h["Ratelimit-Limit"] = []string{strconv.Itoa(limit)}
	h["Ratelimit-Remaining"] = []string{strconv.Itoa(remaining)}
	h["Ratelimit-Reset"] = []string{wholeSeconds(wait)}
	return fault.Limited(code, countersign.MsgLimited, wait)
}

// RefuseLimited is [Refuse] for a limit that package limit holds (rate_limited).
func RefuseLimited(w http.ResponseWriter, r limit.Refusal) error {
	return Refuse(w, countersign.CodeRateLimited, r.Limit, r.Remaining, r.Wait)
}

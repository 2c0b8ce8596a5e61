//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// kind is a part of the load.
type kind int

const (
	newCode kind = iota
	knownCode
	patientLicense
	impatientLicense
	refundCommand
	kinds int = iota
)

func (k kind) String() string {
	return [kinds]string{
		"validations, never asked before", "validations, asked before", "licenses, patient clients",
		"licenses, impatient clients", "refunds by commands",
	}[k]
}

// staleLimit is how long a validation may say that a code is valid after its refund by
// another process was acknowledged.
const staleLimit = 2 * time.Second

// count is what a part of the load came to.
type count struct {
	requests int
	// right are answers as they have to be, unavailable those of 503.
	right, unavailable int
	// gaveUp are requests that their client ended before the limit of an answer.
	gaveUp int
	// longest is the longest time to an answer.
	longest time.Duration
	// These have to be 0. Unanswered requests had no answer within the limit, or their
	// connection was closed. Missing are acknowledged writes that were not there in the
	// end. Early are validations that failed while a server took connections.
	unanswered, wrong, missing, early int
}

func (c count) violations() int { return c.unanswered + c.wrong + c.missing + c.early }

// failure is a validation that was not answered with what the store knows.
type failure struct {
	kind         kind
	began, ended time.Time
	text         string
}

// acknowledged is a license that a client has.
type acknowledged struct {
	kind kind
	code string
	at   time.Time
}

// record is what the load saw.
type record struct {
	mu       sync.Mutex
	counts   [kinds]count
	failures []failure
	// unavailable are the answers of 503.
	unavailable []answer
	// licenses are by id.
	licenses map[string]acknowledged
	// refunds are the times at which acknowledged ones returned, by code.
	refunds map[string]time.Time
	// unknown is what commands said whose refund was not acknowledged, by code.
	unknown map[string]string
	// violations say what was wrong, in order.
	violations []string
}

func newRecord() *record {
	return &record{licenses: map[string]acknowledged{}, refunds: map[string]time.Time{}, unknown: map[string]string{}}
}

// rows are the parts of the load in the table, with something before their names. The load
// has ended.
func (r *record) rows(before string) []row {
	var all []row
	for k := range kinds {
		all = append(all, row{before + kind(k).String(), r.counts[k]})
	}
	return all
}

// violated notes what is not to happen. The caller holds the lock.
func (r *record) violated(n *int, format string, args ...any) {
	*n++
	r.violations = append(r.violations, fmt.Sprintf(format, args...))
}

// validated notes the answer to a validation, and what its status has to be.
func (r *record) validated(k kind, code string, a answer, want ...int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.answered(k, code, a, want...) {
		r.failures = append(r.failures, failure{k, a.began, a.ended, describe(k, code, a)})
	}
}

// licensed notes the answer to a request for a license. It reports whether it was issued.
func (r *record) licensed(k kind, code string, a answer) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.answered(k, code, a, 200) {
		return false
	}
	var said struct {
		Data struct {
			LicenseID string `json:"license_id"`
		} `json:"data"`
	}
	_ = json.Unmarshal([]byte(a.body), &said) // what can't be read has no id
	id := said.Data.LicenseID
	if id == "" {
		r.violated(&r.counts[k].wrong, "%s: no license_id", describe(k, code, a))
		return false
	}
	r.licenses[id] = acknowledged{k, code, a.ended}
	return true
}

// answered counts an answer. It reports whether its status is one of those that it may
// have. The caller holds the lock.
func (r *record) answered(k kind, code string, a answer, want ...int) bool {
	c := &r.counts[k]
	c.requests++
	if a.gaveUp {
		c.gaveUp++
		return false
	}
	c.longest = max(c.longest, a.took())
	if a.status == 0 {
		r.violated(&c.unanswered, "%s", describe(k, code, a))
		return false
	}
	if a.status == 503 {
		c.unavailable++
		r.unavailable = append(r.unavailable, a)
		if a.header.Get("Retry-After") == "" {
			r.violated(&c.wrong, "%s: without Retry-After", describe(k, code, a))
		}
		return false
	}
	if slices.Contains(want, a.status) {
		c.right++
		return true
	}
	r.violated(&c.wrong, "%s: want %v", describe(k, code, a), want)
	return true // it is counted as wrong already
}

// refunded notes the end of a command that refunds a purchase.
func (r *record) refunded(code string, took time.Duration, out result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &r.counts[refundCommand]
	c.requests++
	c.longest = max(c.longest, took)
	if out.code == 0 {
		c.right++
		r.refunds[code] = time.Now()
		return
	}
	if took >= commandLimit {
		r.violated(&c.unanswered, "%s: %s did not end within %s", refundCommand, code, commandLimit)
	}
	r.unknown[code] = fmt.Sprintf("exit code %d at %s after %.1f s: %s", out.code, time.Now().Format("15:04:05.0"), took.Seconds(), strings.TrimSpace(out.stderr))
}

// statuses are those that a validation of a code may have that is asked now.
func (r *record) statuses(code string) []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, refunded := r.refunds[code]
	switch {
	case refunded && time.Since(at) > staleLimit:
		return []int{404}
	case refunded || r.unknown[code] != "":
		return []int{200, 404}
	}
	return []int{200}
}

// refundedCodes lists the codes whose refund was acknowledged.
func (r *record) refundedCodes() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.refunds))
}

func describe(k kind, code string, a answer) string {
	what := fmt.Sprintf("status %d %.100s", a.status, a.body)
	if a.status == 0 {
		what = fmt.Sprintf("no answer: %v", a.cause)
	}
	return fmt.Sprintf("%s %s: %s after %.1f s: %s", a.began.Format("15:04:05.0"), k, code, a.took().Seconds(), what)
}

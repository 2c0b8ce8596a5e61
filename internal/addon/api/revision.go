package api

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
)

const (
	anyRevision = 0  // whatever it is
	noRevision  = -1 // none that ever was
)

// tagOf is the ETag of a revision of the draft.
func tagOf(revision int64) string { return `"` + strconv.FormatInt(revision, 10) + `"` }

// seen is the revision that the caller has seen, from If-Match or the body.
func seen(r *http.Request, inBody *int64) (int64, error) {
	header, given := ifMatch(r.Header["If-Match"])
	switch {
	case inBody == nil:
		return header, nil
	case *inBody < 0:
		return 0, badBody("A revision is a number from 0 on. Nothing was changed", nil)
	case given && header != *inBody:
		return 0, fault.Invalid(countersign.CodeParamConflict, "If-Match and the body's revision differ. Nothing was changed. Send one of them")
	}
	return *inBody, nil
}

// ifMatch reads If-Match: one ETag of ours, or a star. A tag that a proxy made weak
// when it compressed the answer still names the revision. What can't be read
// matches nothing.
func ifMatch(values []string) (revision int64, given bool) {
	if len(values) == 0 {
		return anyRevision, false
	}
	text := strings.TrimSpace(values[0])
	if len(values) > 1 {
		return noRevision, true
	}
	if text == "*" {
		return anyRevision, true
	}
	number, ok := strings.CutPrefix(strings.TrimPrefix(text, "W/"), `"`)
	number, ended := strings.CutSuffix(number, `"`)
	revision, err := strconv.ParseInt(number, 10, 64)
	if !ok || !ended || err != nil || revision < 1 {
		return noRevision, true
	}
	return revision, true
}

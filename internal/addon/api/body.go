package api

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/web"
	"github.com/countersign/countersign/internal/wording"
)

const (
	// maxBody is the size of the largest body that is read, in bytes, and maxPurchaseBody that of the endpoints for
	// purchases and user tokens.
	maxBody         = 1 << 20
	maxPurchaseBody = 32 << 10
	// maxDepth is how deep a body may be nested; its one object is the first level.
	maxDepth = 32
)

// readBody reads the whole body, up to limit bytes. Without a body it returns nil.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.Body == nil || r.ContentLength == 0 {
		return nil, nil
	}
	if r.ContentLength > limit {
		return nil, tooLarge(limit, nil)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if passed := (*http.MaxBytesError)(nil); errors.As(err, &passed) {
		return nil, tooLarge(limit, err)
	}
	if err != nil {
		return nil, badBody("The body arrived incomplete. Nothing was changed. Send it again", err)
	}
	return body, nil
}

// decode reads a body, which is one JSON object with no members but those of into.
// An empty body leaves into as it is.
func decode(r *http.Request, body []byte, into any) error {
	body, err := web.JSONBody(r, body)
	if err != nil {
		return unsupported(err)
	}
	if len(body) == 0 {
		return nil
	}
	if err := inspect(body); err != nil {
		return badBody("Invalid body, expected one JSON object: "+err.Error()+". Nothing was changed", err)
	}
	if err := jsonv2.Unmarshal(body, into, jsonv2.RejectUnknownMembers(true)); err != nil {
		return badBody("The body has an unknown member, or one of the wrong type. /openapi.json lists names and types. Nothing was changed", err)
	}
	return nil
}

// unsupported says what was expected of a body whose headers do not fit.
func unsupported(err error) error {
	if fault.HasCode(err, countersign.CodeUnsupportedEncoding) {
		return fault.New(countersign.KindUnsupportedType, countersign.CodeUnsupportedEncoding, "The body is compressed. Send it without Content-Encoding. Nothing was changed")
	}
	return fault.New(countersign.KindUnsupportedType, countersign.CodeUnsupportedType, "Expected a JSON body with Content-Type: application/json")
}

// What a body can have wrong with it, as parts of a sentence.
var (
	errSyntax  = errors.New("it is not valid JSON, or a member occurs twice")
	errNoEnd   = errors.New("unexpected text after the object")
	errTooDeep = errors.New("it is nested too deeply")
	errNUL     = errors.New("a string contains NUL")
	errNotOne  = errors.New("it has another type")
)

// inspect reads a body from end to end before anything is made of it.
func inspect(body []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(body))
	if d.PeekKind() != jsontext.KindBeginObject {
		return errNotOne
	}
	for {
		token, err := d.ReadToken()
		switch {
		case err != nil:
			return errSyntax
		case d.StackDepth() > maxDepth:
			return errTooDeep
		case token.Kind() == jsontext.KindString && strings.ContainsRune(token.String(), 0):
			return errNUL
		}
		if d.StackDepth() == 0 {
			break
		}
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return errNoEnd
	}
	return nil
}

func tooLarge(limit int64, cause error) error {
	return fault.WithCause(fault.New(countersign.KindTooLarge, countersign.CodeBodyTooLarge, "The body is larger than "+wording.Size(limit)+". Nothing was changed; send less at once"), cause)
}

func badBody(message string, cause error) error {
	return fault.WithCause(fault.Invalid(countersign.CodeBadBody, message), cause)
}

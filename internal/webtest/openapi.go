package webtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Oracle judges answers by an OpenAPI 3.1 document.
type Oracle struct {
	paths      map[string]map[string]operation // by path, by method
	notAllowed response
	headers    map[string]bool // every header that some response of the document lists
}

// operation is what one method of one path may answer, by status.
type operation map[string]response

// response is one answer as the document describes it.
type response struct {
	headers map[string]headerRule
	body    *jsonschema.Schema // nil: no body
}

type headerRule struct {
	required bool
	number   bool // the value is JSON, not text
	schema   *jsonschema.Schema
}

// NewOracle reads a document and compiles what it says about answers. A document
// without a path or without components/responses/MethodNotAllowed is an error, as
// is a reference to nothing.
func NewOracle(document []byte) (*Oracle, error) {
	d, err := readDocument(document)
	if err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	o := &Oracle{map[string]map[string]operation{}, response{}, d.headers}
	for name, item := range members(d.root, "paths") {
		if o.paths[name], err = d.operations("/paths/"+escape(name), item); err != nil {
			return nil, fmt.Errorf("openapi: %s: %w", name, err)
		}
	}
	if len(o.paths) == 0 {
		return nil, errors.New("openapi: the document has no paths")
	}
	if o.notAllowed, err = d.response("/components/responses/MethodNotAllowed"); err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	return o, nil
}

// Check returns what is wrong with an answer, as one error of several lines. path
// may have a query, a trailing slash, doubled slashes and encoded letters. A path that the document
// does not list is not judged; a method that its path does not list has to be
// answered 405.
func (o *Oracle) Check(method, path string, status int, header http.Header, body []byte) error {
	operations, ok := o.paths[clean(path)]
	if !ok || isElsewhere(path, status, header) {
		return nil
	}
	op, listed := operations[method]
	want, ok := op[strconv.Itoa(status)]
	switch {
	case !listed && status == http.StatusMethodNotAllowed:
		want = o.notAllowed
	case !listed:
		return fmt.Errorf("openapi: %s %s answers %d: the path does not list the method, so the status is 405", method, path, status)
	case !ok:
		return fmt.Errorf("openapi: %s %s answers %d: the document does not list this status", method, path, status)
	}
	errs := o.checkHeader(want, header)
	errs = append(errs, want.checkBody(method, header, body)...)
	if status == http.StatusOK {
		errs = append(errs, want.checkOutcome(method, header, body)...)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("openapi: %s %s answers %d: %w", method, path, status, err)
	}
	return nil
}

// clean returns the path under which the document lists a request's path. An encoded
// slash separates nothing.
func clean(requested string) string {
	requested, _, _ = strings.Cut(requested, "?")
	cleaned := path.Clean("/" + requested)
	plain, err := url.PathUnescape(cleaned)
	if err != nil || strings.Count(plain, "/") != strings.Count(cleaned, "/") {
		return cleaned
	}
	return plain
}

// isElsewhere reports whether a server took a path that is not written as listed for
// another, unknown one: both are good answers to "/api//items/all".
func isElsewhere(requested string, status int, header http.Header) bool {
	requested, _, _ = strings.Cut(requested, "?")
	asListed := strings.TrimSuffix(requested, "/") == clean(requested)
	return !asListed && status == http.StatusNotFound && header.Get("X-Error-Code") == "not_found"
}

// checkHeader also refuses a header that the document knows, but not in this place:
// an ETag with an error, for example.
func (o *Oracle) checkHeader(want response, header http.Header) (errs []error) {
	for _, name := range slices.Sorted(maps.Keys(o.headers)) {
		rule, listed := want.headers[name]
		values := header.Values(name)
		switch {
		case len(values) == 0 && rule.required:
			errs = append(errs, fmt.Errorf("header %s is missing", name))
		case len(values) == 0:
		case !listed:
			errs = append(errs, fmt.Errorf("header %s does not belong here: %q", name, values))
		case len(values) > 1:
			errs = append(errs, fmt.Errorf("header %s comes more than once: %q", name, values))
		default:
			if err := rule.check(values[0]); err != nil {
				errs = append(errs, fmt.Errorf("header %s is %q: %w", name, values[0], err))
			}
		}
	}
	return errs
}

func (r headerRule) check(value string) error {
	if !r.number {
		return r.schema.Validate(value)
	}
	n, err := jsonschema.UnmarshalJSON(strings.NewReader(value))
	if err != nil {
		return fmt.Errorf("not a number: %w", err)
	}
	return r.schema.Validate(n)
}

func (r response) checkBody(method string, header http.Header, body []byte) []error {
	if r.body == nil || method == http.MethodHead {
		if len(body) > 0 {
			return []error{fmt.Errorf("there is a body of %d bytes, want none", len(body))}
		}
	}
	if r.body == nil {
		return nil
	}
	if media, _, err := mime.ParseMediaType(header.Get("Content-Type")); err != nil || media != "application/json" {
		return []error{fmt.Errorf("header Content-Type is %q, want application/json", header.Get("Content-Type"))}
	}
	if method == http.MethodHead {
		return nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return []error{fmt.Errorf("the body is not JSON: %w", err)}
	}
	if err := r.body.Validate(value); err != nil {
		return []error{fmt.Errorf("the body: %w", err)}
	}
	return nil
}

// checkOutcome holds together what a document can only say of each part alone: an
// answer with status 200 is a success, which names its state when the response lists
// an ETag, or an error, which has a code and may not be kept.
func (r response) checkOutcome(method string, header http.Header, body []byte) (errs []error) {
	code := header.Get("X-Error-Code")
	refused := code != ""
	if _, names := r.headers["Etag"]; names {
		if tagged := header.Get("ETag") != ""; tagged == refused {
			errs = append(errs, fmt.Errorf("header ETag is %q, X-Error-Code %q: a success has the one, an error the other", header.Get("ETag"), code))
		}
		if kept := header.Get("Cache-Control") != "no-store"; kept == refused {
			errs = append(errs, fmt.Errorf("header Cache-Control is %q, X-Error-Code %q", header.Get("Cache-Control"), code))
		}
	}
	for _, name := range []string{"WWW-Authenticate", "Retry-After"} {
		if !refused && header.Get(name) != "" {
			errs = append(errs, fmt.Errorf("header %s comes with a success: %q", name, header.Get(name)))
		}
	}
	var envelope struct{ Status string }
	if method != http.MethodHead && json.Unmarshal(body, &envelope) == nil && (envelope.Status == "error") != refused {
		errs = append(errs, fmt.Errorf("the body's status is %q, X-Error-Code %q", envelope.Status, code))
	}
	return errs
}

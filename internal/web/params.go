package web

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
)

// Params are the parameters that an endpoint asked for, wherever in the request they stood.
type Params struct {
	list  []param
	first [4]param // what list uses for as long as it is enough
}

type param struct {
	name, value string
	given       bool
	number      bool // written as a JSON number
	query       bool // stood in the query
}

// Get returns the value, and whether the parameter was sent. A JSON number is returned as written.
func (p *Params) Get(name string) (value string, ok bool) {
	if q := p.find(name); q != nil {
		return q.value, q.given
	}
	return "", false
}

// IsNumber reports whether the parameter was given as a JSON number.
func (p *Params) IsNumber(name string) bool {
	q := p.find(name)
	return q != nil && q.number
}

// InQuery reports whether the parameter stood in the query, there alone or there too.
func (p *Params) InQuery(name string) bool {
	q := p.find(name)
	return q != nil && q.query
}

// ReadParams collects the named parameters from the query and from a form or JSON body, with any method. It reads the
// body, so it works once for each request. Parameters that are not named are ignored, but must be readable too.
//
// Errors are a [countersign.Error] of kind Invalid (bad_query, bad_body, param_conflict), TooLarge or UnsupportedType.
func ReadParams(w http.ResponseWriter, r *http.Request, name string, more ...string) (*Params, error) {
	a := answerOf(w)
	var p *Params
	if a != nil {
		p, w = &a.params, a.ResponseWriter
	} else {
		p = new(Params)
	}
	p.want(name, more)
	if err := p.readPairs(r.URL.RawQuery, true); err != nil {
		return nil, err
	}
	if err := p.readBody(w, r); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Params) want(name string, more []string) {
	p.list = append(p.first[:0], param{name: name})
	for _, name := range more {
		p.list = append(p.list, param{name: name})
	}
}

func (p *Params) find(name string) *param {
	for i := range p.list {
		if p.list[i].name == name {
			return &p.list[i]
		}
	}
	return nil
}

// ConflictError is the cause of a param_conflict: it says which parameter occurs twice with different values.
type ConflictError struct{ Name string }

func (e *ConflictError) Error() string { return e.Name + " occurs twice with different values" }

// set keeps a value, and refuses a second one that differs by more than white space around it.
func (q *param) set(value string) error {
	if q.given && q.value != value && strings.TrimSpace(q.value) != strings.TrimSpace(value) {
		return errInvalid(countersign.CodeParamConflict, &ConflictError{Name: q.name})
	}
	q.value, q.given = value, true
	return nil
}

// readPairs reads a query or an urlencoded body.
func (p *Params) readPairs(s string, query bool) error {
	code := countersign.CodeBadBody
	if query {
		code = countersign.CodeBadQuery
	}
	for s != "" {
		var pair string
		pair, s, _ = strings.Cut(s, "&")
		name, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err != nil {
			return errInvalid(code, err)
		}
		value, err = url.QueryUnescape(value)
		if err != nil {
			return errInvalid(code, err)
		}
		q := p.find(name)
		if q == nil {
			continue
		}
		if err = q.set(value); err != nil {
			return err
		}
		q.query = q.query || query
	}
	return nil
}

// errInvalid is the one error of requests that can't be read; code says why.
func errInvalid(code string, cause error) error {
	return fault.WithCause(fault.Invalid(code, countersign.MsgInvalidRequest), cause)
}

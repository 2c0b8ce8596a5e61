package web

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
)

// maxDepth is how deep a JSON body may be nested; its one object is the first level.
const maxDepth = 32

var (
	errNotObject = errors.New("the body is not a JSON object")
	errTrailing  = errors.New("unexpected text after the JSON object")
	errDepth     = errors.New("the JSON body is nested too deeply")
	errNUL       = errors.New("a JSON string contains NUL")
	errType      = errors.New("a parameter is neither a string nor a number")
)

// A jsonBody reads one JSON body token by token. The decoder refuses duplicate names and invalid UTF-8 by itself, and
// this type what else DESIGN.md refuses.
type jsonBody struct {
	dec    jsontext.Decoder
	src    bytes.Buffer
	mayNUL bool // the body holds the only escape that can make a NUL
}

var jsonBodies = sync.Pool{New: func() any { return new(jsonBody) }}

// readJSON reads the members of a JSON body; null is the same as absent, also in place of the object.
func (p *Params) readJSON(body []byte) error {
	if string(bytes.TrimSpace(body)) == "null" {
		return nil
	}
	j := jsonBodies.Get().(*jsonBody)
	defer jsonBodies.Put(j)
	j.src = *bytes.NewBuffer(body)
	j.dec.Reset(&j.src)
	j.mayNUL = bytes.Contains(body, []byte(`\u0000`))
	err := j.readObject(p)
	j.src = bytes.Buffer{}
	if err == nil {
		return nil
	}
	if apiErr := fault.Of(err); apiErr != nil {
		return apiErr
	}
	return errInvalid(countersign.CodeBadBody, err)
}

func (j *jsonBody) readObject(p *Params) error {
	if open, err := j.dec.ReadToken(); err != nil || open.Kind() != jsontext.KindBeginObject {
		return errors.Join(errNotObject, err)
	}
	for j.dec.PeekKind() != jsontext.KindEndObject {
		q, err := j.readName(p)
		if err != nil {
			return err
		}
		if q == nil {
			err = j.skip()
		} else {
			err = j.readValue(q)
		}
		if err != nil {
			return err
		}
	}
	if _, err := j.dec.ReadToken(); err != nil {
		return err
	}
	if _, err := j.dec.ReadToken(); err != io.EOF {
		return errors.Join(errTrailing, err)
	}
	return nil
}

// readName reads a member's name and finds the parameter that it names, or nil.
func (j *jsonBody) readName(p *Params) (*param, error) {
	raw, err := j.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return p.find(string(raw[1 : len(raw)-1])), nil
	}
	name, err := unquote(raw)
	if err != nil {
		return nil, err
	}
	return p.find(name), nil
}

// readValue reads the value of a named parameter.
func (j *jsonBody) readValue(q *param) error {
	switch j.dec.PeekKind() {
	case jsontext.KindNull:
		_, err := j.dec.ReadToken()
		return err
	case jsontext.KindString, jsontext.KindNumber:
		raw, err := j.dec.ReadValue()
		if err != nil {
			return err
		}
		if raw.Kind() == jsontext.KindNumber {
			q.number = true
			return q.set(string(raw))
		}
		value, err := unquote(raw)
		if err != nil {
			return err
		}
		return q.set(value)
	default:
		_, err := j.dec.ReadToken()
		return errors.Join(errType, err)
	}
}

// skip reads past the value of a member that nobody asked for, and checks it.
func (j *jsonBody) skip() error {
	outside := j.dec.StackDepth()
	for {
		token, err := j.dec.ReadToken()
		if err != nil {
			return err
		}
		depth := j.dec.StackDepth()
		if depth > maxDepth {
			return errDepth
		}
		if j.mayNUL && token.Kind() == jsontext.KindString && bytes.IndexByte([]byte(token.String()), 0) >= 0 {
			return errNUL
		}
		if depth == outside {
			return nil
		}
	}
}

// unquote returns the text of a JSON string.
func unquote(raw jsontext.Value) (string, error) {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), nil
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return "", err
	}
	if bytes.IndexByte(text, 0) >= 0 {
		return "", errNUL
	}
	return string(text), nil
}

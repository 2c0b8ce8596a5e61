package web

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
)

// maxBodyBytes is the size of the largest body that parameters are read from.
const maxBodyBytes = 64 << 10

// readBody reads the parameters of the body. An empty body counts as none, whatever its type.
func (p *Params) readBody(w http.ResponseWriter, r *http.Request) error {
	if r.Body == nil || r.ContentLength == 0 {
		return nil
	}
	if r.ContentLength > maxBodyBytes {
		return errTooLarge(nil)
	}
	pooled := buffers.Get().(*[]byte)
	defer putBuffer(pooled)
	body, err := readAll(bodyReader(w, r), (*pooled)[:0])
	if err != nil {
		return err
	}
	if len(body) == 0 {
		return nil
	}
	if !isIdentity(r.Header["Content-Encoding"]) {
		return errUnsupported()
	}
	form, boundary, err := formOf(r.Header["Content-Type"])
	if err != nil {
		return err
	}
	return p.readForm(form, boundary, body)
}

// bodyReader limits a body that does not say how long it is; net/http holds the others to their Content-Length.
func bodyReader(w http.ResponseWriter, r *http.Request) io.Reader {
	if r.ContentLength > 0 {
		return r.Body
	}
	return http.MaxBytesReader(w, r.Body, maxBodyBytes)
}

// readAll appends the whole body to b. Memory grows with what has arrived, not with what was announced.
func readAll(body io.Reader, b []byte) ([]byte, error) {
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := body.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if len(b) > maxBodyBytes {
			return nil, errTooLarge(nil)
		}
		if err == io.EOF {
			return b, nil
		}
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			return nil, errTooLarge(err)
		}
		if err != nil {
			return nil, errInvalid(countersign.CodeBadBody, err)
		}
	}
}

// A form is a way to write parameters in a body.
type form uint8

const (
	formEither     form = iota // JSON when it begins with {, else urlencoded
	formURLEncoded             // also JSON that is one object: curl sends everything as this
	formMultipart
	formJSON
)

func (p *Params) readForm(f form, boundary string, body []byte) error {
	switch {
	case f == formMultipart:
		return p.readMultipart(body, boundary)
	case f == formJSON, f == formEither && beginsObject(body), f == formURLEncoded && beginsObject(body) && isValidJSON(body):
		return p.readJSON(body)
	}
	return p.readPairs(string(body), false)
}

func beginsObject(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{"))
}

// isValidJSON reports whether a body is one JSON value, perhaps with a member twice, which is an error of its own.
func isValidJSON(body []byte) bool {
	return jsontext.Value(body).IsValid(jsontext.AllowDuplicateNames(true))
}

// formOf returns the form of the body by its Content-Type.
func formOf(contentType []string) (f form, boundary string, err error) {
	if len(contentType) == 0 {
		return formEither, "", nil
	}
	if len(contentType) > 1 {
		return 0, "", errUnsupported()
	}
	switch contentType[0] {
	case "application/x-www-form-urlencoded":
		return formURLEncoded, "", nil
	case "application/json", "application/json; charset=utf-8":
		return formJSON, "", nil
	case "":
		return formEither, "", nil
	}
	return parseFormOf(contentType[0])
}

func parseFormOf(contentType string) (form, string, error) {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return 0, "", errUnsupported()
	}
	charset, given := params["charset"]
	if given && !strings.EqualFold(charset, "utf-8") && !strings.EqualFold(charset, "us-ascii") {
		return 0, "", errUnsupported()
	}
	switch {
	case media == "application/json" || strings.HasSuffix(media, "+json"):
		return formJSON, "", nil
	case media == "application/x-www-form-urlencoded":
		return formURLEncoded, "", nil
	case media == "multipart/form-data":
		return formMultipart, params["boundary"], nil
	case media == "text/plain":
		return formEither, "", nil
	}
	return 0, "", errUnsupported()
}

// isIdentity reports whether the body is sent as it is. A compressed one is not opened.
func isIdentity(contentEncoding []string) bool {
	for _, v := range contentEncoding {
		if v = strings.TrimSpace(v); v != "" && !strings.EqualFold(v, "identity") {
			return false
		}
	}
	return true
}

// readMultipart reads the values of a multipart form. Files are passed over.
func (p *Params) readMultipart(body []byte, boundary string) error {
	if boundary == "" {
		return errInvalid(countersign.CodeBadBody, nil)
	}
	parts := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return errInvalid(countersign.CodeBadBody, err)
		}
		q := p.find(part.FormName())
		if q == nil || part.FileName() != "" {
			continue
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return errInvalid(countersign.CodeBadBody, err)
		}
		if err := q.set(string(value)); err != nil {
			return err
		}
	}
}

func errTooLarge(cause error) error {
	return fault.WithCause(fault.New(countersign.KindTooLarge, countersign.CodeBodyTooLarge, countersign.MsgTooLarge), cause)
}

func errUnsupported() error {
	return fault.New(countersign.KindUnsupportedType, countersign.CodeUnsupportedType, countersign.MsgUnsupportedType)
}

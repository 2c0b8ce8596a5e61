package web

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"net/http"

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
	if err := Uncompressed(r); err != nil {
		return err
	}
	body = withoutBOM(body)
	form, boundary, err := formOf(r.Header["Content-Type"], body)
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

func (p *Params) readForm(f form, boundary string, body []byte) error {
	switch {
	case f == formMultipart:
		return p.readMultipart(body, boundary)
	case f == formJSON, f == formEither && beginsObject(body), f == formURLEncoded && isJSONObject(body):
		return p.readJSON(body)
	}
	return p.readPairs(string(body), false)
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

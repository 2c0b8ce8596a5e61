package web

import (
	"bytes"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
)

// A form is a way to write parameters in a body.
type form uint8

const (
	formEither     form = iota // JSON when it begins with {, else urlencoded
	formURLEncoded             // also JSON that is one object: curl sends everything as this
	formMultipart
	formJSON
)

// formOf returns the form of a body by its Content-Type.
func formOf(contentType []string, body []byte) (f form, boundary string, err error) {
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
	return parseFormOf(contentType[0], body)
}

// parseFormOf also reads a type whose parameters are broken, as in "application/json; charset=".
func parseFormOf(contentType string, body []byte) (form, string, error) {
	_, params, _ := mime.ParseMediaType(contentType)
	if !isInCharset(params["charset"], body) {
		return 0, "", errUnsupported()
	}
	media, _, _ := strings.Cut(contentType, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	switch {
	case isJSONMedia(media):
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

func isJSONMedia(media string) bool {
	return media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json")
}

// isInCharset reports whether a body can be read as UTF-8. HTTP stacks name charsets that the body does not use: one in
// ISO-8859-1 that is ASCII is the same text. NUL is in no such text, but in UTF-16.
func isInCharset(charset string, body []byte) bool {
	switch strings.ToLower(charset) {
	case "", "utf-8", "utf8", "us-ascii":
		return true // the reader of the form checks the text
	}
	return utf8.Valid(body) && bytes.IndexByte(body, 0) < 0
}

// SaysJSON reports whether a Content-Type names JSON.
func SaysJSON(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	return isJSONMedia(strings.ToLower(strings.TrimSpace(media)))
}

// JSONBody returns a body that is to be JSON without the byte order mark that some clients write; null, which a client
// sends for nothing, is empty. Its error is for a Content-Type of something else. Forms are read too when they are JSON.
func JSONBody(r *http.Request, body []byte) ([]byte, error) {
	body = withoutBOM(body)
	if text := bytes.TrimSpace(body); len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	if err := Uncompressed(r); err != nil {
		return nil, err
	}
	f, _, err := formOf(r.Header["Content-Type"], body)
	if err != nil || f == formMultipart || f == formURLEncoded && !isJSONObject(body) {
		return nil, errUnsupported()
	}
	return body, nil
}

// withoutBOM returns a body without the byte order mark of UTF-8 before it.
func withoutBOM(body []byte) []byte { return bytes.TrimPrefix(body, []byte("\ufeff")) }

func beginsObject(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{"))
}

// isJSONObject reports whether a body is one JSON object, perhaps with a member twice, which is an error of its own.
func isJSONObject(body []byte) bool {
	return beginsObject(body) && jsontext.Value(body).IsValid(jsontext.AllowDuplicateNames(true))
}

// Uncompressed returns an error for a request whose body is compressed.
func Uncompressed(r *http.Request) error {
	for _, v := range r.Header["Content-Encoding"] {
		if v = strings.TrimSpace(v); v != "" && !strings.EqualFold(v, "identity") {
			return fault.New(countersign.KindUnsupportedType, countersign.CodeUnsupportedEncoding, countersign.MsgUnsupportedType)
		}
	}
	return nil
}

func errUnsupported() error {
	return fault.New(countersign.KindUnsupportedType, countersign.CodeUnsupportedType, countersign.MsgUnsupportedType)
}

package frame

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
)

// maxForm is the size of the largest form that is read, in bytes.
const maxForm = 1 << 20

// PostValues reads the posted form. The errors are too large (body_too_large)
// and invalid (bad_body): a form that can't be read, or text that can't be kept.
func (r *Request) PostValues() (url.Values, error) {
	var err error
	switch {
	case r.ContentLength > maxForm:
		err = &http.MaxBytesError{Limit: maxForm} // before any of it arrives
	case strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data"):
		err = r.ParseMultipartForm(maxForm)
	default:
		err = r.ParseForm()
	}
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, fault.WithCause(fault.New(countersign.KindTooLarge, countersign.CodeBodyTooLarge, "The form is larger than 1 MB. Nothing was saved: send less at once."), err)
	}
	if err != nil {
		return nil, badForm("The form could not be read. Nothing was saved: go back and send it again.", err)
	}
	if err := checkText(r.PostForm); err != nil {
		return nil, badForm("The form contains invalid characters. Nothing was saved: type the value instead of pasting it.", err)
	}
	if r.PostForm.Has(fieldForm) {
		r.sentForm = r.PostForm.Get(fieldForm)
		r.PostForm.Del(fieldForm)
	}
	return r.PostForm, nil
}

var errNoText = errors.New("a value is not text")

// checkText finds values that can't be kept as text.
func checkText(all url.Values) error {
	for name, values := range all {
		if !isText(name) || slices.ContainsFunc(values, func(v string) bool { return !isText(v) }) {
			return errNoText
		}
	}
	return nil
}

// isText reports whether both database engines keep s as it is.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// PostedFile reads a file of the form after [Request.PostValues]; nil when none
// was chosen.
func (r *Request) PostedFile(name string) ([]byte, error) {
	if r.MultipartForm == nil || len(r.MultipartForm.File[name]) == 0 {
		return nil, nil
	}
	file, err := r.MultipartForm.File[name][0].Open()
	if err != nil {
		return nil, badForm("The file could not be read. Nothing was saved: choose it again.", err)
	}
	defer file.Close()
	content, err := io.ReadAll(file)
	if err != nil {
		return nil, badForm("The file could not be read. Nothing was saved: choose it again.", err)
	}
	return content, nil
}

func badForm(message string, cause error) error {
	return fault.WithCause(fault.Invalid(countersign.CodeBadBody, message), cause)
}

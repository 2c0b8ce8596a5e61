package frame_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

// upload reads a form that has parts, and then a file.
func upload(parts io.Reader, file string) (frame.Upload, error) {
	end := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + file + "\"\r\n\r\ncontent\r\n--b--\r\n"
	r := httptest.NewRequest(http.MethodPost, "/", io.MultiReader(parts, strings.NewReader(end)))
	r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
	r.ContentLength = -1
	return (&frame.Request{Request: r}).Upload(httptest.NewRecorder(), "file")
}

func field(name, value string) string {
	return "--b\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n"
}

func TestFieldsBeforeAFileAreLimitedTogether(t *testing.T) {
	const half = 512 << 10
	for name, c := range map[string]struct {
		fields []string
		code   string
	}{
		"less than 1 MB":      {[]string{field("a", strings.Repeat("x", half)), field("b", strings.Repeat("x", half-10))}, ""},
		"together over 1 MB":  {[]string{field("a", strings.Repeat("x", half)), field("b", strings.Repeat("x", half))}, countersign.CodeBodyTooLarge},
		"one over 1 MB":       {[]string{field("a", strings.Repeat("x", 2*half+1))}, countersign.CodeBodyTooLarge},
		"as many as can be":   {[]string{strings.Repeat(field("a", ""), 100)}, ""},
		"too many":            {[]string{strings.Repeat(field("a", ""), 101)}, countersign.CodeBodyTooLarge},
		"names take room too": {[]string{field(strings.Repeat("a", 5000), strings.Repeat("x", 2*half-1000))}, countersign.CodeBodyTooLarge},
	} {
		u, err := upload(strings.NewReader(strings.Join(c.fields, "")), "a.csv")
		if c.code == "" && (err != nil || u.File == nil) || c.code != "" && !fault.HasCode(err, c.code) {
			t.Errorf("%s: %v, want %q", name, err, c.code)
		}
	}
}

func TestNamesOfFilesAreShortAndVisible(t *testing.T) {
	long := strings.Repeat("ä", 251) + ".csv"
	for sent, want := range map[string]string{
		"sales.csv":                 "sales.csv",
		`C:\\reports\\sales.csv`:    "sales.csv",
		"2026\u202f12\u00a001.csv":  "2026 12 01.csv",
		"vsc.\u202elatin\u200b.exe": "vsc.latin.exe",
		"a\u009bb\u0085.csv":        "ab.csv",
		"\u202e":                    "file",
		"Umsätze 雨 \U0001F600.csv":  "Umsätze 雨 \U0001F600.csv",
		long:                        long,
	} {
		if u, err := upload(strings.NewReader(""), sent); err != nil || u.Name != want {
			t.Errorf("%q is %q, %v, want %q", sent, u.Name, err, want)
		}
	}
	for _, sent := range []string{"ä" + long, "a\xff.csv"} {
		if _, err := upload(strings.NewReader(""), sent); !fault.HasCode(err, countersign.CodeBadBody) {
			t.Errorf("%q: %v", sent, err)
		}
	}
}

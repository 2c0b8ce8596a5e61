package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

const (
	typeForm = "application/x-www-form-urlencoded"
	typeJSON = "application/json"
	typeFile = "multipart/form-data; boundary=B"
)

// A post is a request whose parameters are read in a test.
type post struct {
	method, query, contentType, body string
	header                           http.Header
	chunked                          bool
}

func (p post) request() *http.Request {
	method := p.method
	if method == "" {
		method = "POST"
	}
	r := httptest.NewRequest(method, "/", strings.NewReader(p.body))
	r.URL.RawQuery = p.query
	for name, values := range p.header {
		r.Header[name] = values
	}
	if p.contentType != "" {
		r.Header.Set("Content-Type", p.contentType)
	}
	if p.chunked {
		r.ContentLength = -1
	}
	return r
}

// read reads the parameters a and b and prints them.
func (p post) read() (string, error) {
	params, err := ReadParams(httptest.NewRecorder(), p.request(), "a", "b")
	if err != nil {
		return "", err
	}
	var out []string
	for _, name := range []string{"a", "b"} {
		value, ok := params.Get(name)
		if !ok {
			continue
		}
		line := fmt.Sprintf("%s=%q", name, value)
		if params.IsNumber(name) {
			line += " number"
		}
		if params.InQuery(name) {
			line += " query"
		}
		out = append(out, line)
	}
	return strings.Join(out, ", "), nil
}

// check reads the parameters of p; want is what they are, or the code of the error.
func (p post) check(t *testing.T, want string) {
	t.Helper()
	got, err := p.read()
	if err != nil {
		apiErr, ok := errors.AsType[*countersign.Error](err)
		if !ok {
			t.Fatalf("the error is not ours: %v", err)
		}
		messages := map[countersign.Kind]string{
			countersign.KindInvalid: "Invalid request", countersign.KindTooLarge: "Request too large",
			countersign.KindUnsupportedType: "Unsupported content type",
		}
		if apiErr.Message == "" || apiErr.Message != messages[apiErr.Kind] {
			t.Errorf("%s with the message %q", apiErr.Kind, apiErr.Message)
		}
		got = apiErr.Code
	}
	expect.Equalf(t, got, want, "(%v)", err)
}

func TestParamsOfQueries(t *testing.T) {
	tests := []struct{ name, query, want string }{
		{"none", "", ""},
		{"one", "a=1", `a="1" query`},
		{"empty is given", "a=", `a="" query`},
		{"without = is given", "a", `a="" query`},
		{"escapes", "a=%41%20+%2B", `a="A  +" query`},
		{"an escaped name is that name", "%61=1", `a="1" query`},
		{"names in other letter case are others", "A=1", ""},
		{"PHP's lists are other names", "a[]=1", ""},
		{"others are ignored", "x=1&a=2&y", `a="2" query`},
		{"empty pairs", "&&a=1&&", `a="1" query`},
		{"more = belong to the value", "a=b=c", `a="b=c" query`},
		{"a semicolon is data", "a=1;b=2", `a="1;b=2" query`},
		{"the same value twice", "a=1&a=1", `a="1" query`},
		{"the same value, written differently", "a=1&a=%31", `a="1" query`},
		{"two values", "a=1&a=2", "param_conflict"},
		{"a value and nothing", "a=1&a=", "param_conflict"},
		{"two values of somebody else's parameter", "x=1&x=2", ""},
		{"a broken escape", "a=%4", "bad_query"},
		{"a broken escape in a name", "%zz=1", "bad_query"},
		{"a broken escape in another parameter", "x=%", "bad_query"},
		{"NUL is for the endpoint to judge", "a=%00", `a="\x00" query`},
		{"invalid UTF-8 is for the endpoint to judge", "a=%ff", `a="\xff" query`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { post{method: "GET", query: tt.query}.check(t, tt.want) })
	}
}

func TestParamsOfForms(t *testing.T) {
	tests := []struct{ name, query, body, want string }{
		{"one", "", "a=1&b=x%20y", `a="1", b="x y"`},
		{"the same in query and body", "a=1", "a=1", `a="1" query`},
		{"one here, one there", "a=1", "b=2", `a="1" query, b="2"`},
		{"query against body", "a=1", "a=2", "param_conflict"},
		{"two values", "", "a=1&a=2", "param_conflict"},
		{"a broken escape", "", "a=%4", "bad_body"},
		{"a broken escape in another parameter", "", "x=%4&a=1", "bad_body"},
		{"a broken query beside a good body", "x=%", "a=1", "bad_query"},
		{"two values that differ in white space around them", "a=1", "a=+1%0A", "a=\" 1\\n\" query"},
		{"one JSON object is JSON", "", ` {"a":"1"}`, `a="1"`},
		{"a JSON object with a member twice is broken JSON", "", `{"a":"1","a":"1"}`, "bad_body"},
		{"what begins like JSON is a form", "", `{"a":"1"}&a=2`, `a="2"`},
		{"a JSON list is a form", "", `[{"a":"1"}]`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			post{query: tt.query, contentType: typeForm, body: tt.body}.check(t, tt.want)
		})
	}
}

func TestMoreParametersThanThereIsRoomFor(t *testing.T) {
	r := post{query: "p1=1&p6=6&p3=3", contentType: typeForm, body: "p5=5"}.request()
	p := must.Get(ReadParams(httptest.NewRecorder(), r, "p1", "p2", "p3", "p4", "p5", "p6"))(t)
	for name, want := range map[string]string{"p1": "1", "p2": "", "p3": "3", "p4": "", "p5": "5", "p6": "6", "p7": ""} {
		if got, ok := p.Get(name); got != want || ok != (want != "") {
			t.Errorf("%s is %q", name, got)
		}
	}
	if p.IsNumber("p7") || p.InQuery("p7") || p.InQuery("p5") {
		t.Error("a parameter is what it is not")
	}
}

func TestAConflictNamesItsParameter(t *testing.T) {
	for _, p := range []post{
		{query: "a=1&b=1&b=2"},
		{query: "b=1", contentType: typeForm, body: "a=1&b=2"},
		{query: "b=1", contentType: typeJSON, body: `{"b":2}`},
	} {
		_, err := p.read()
		if conflict, ok := errors.AsType[*ConflictError](err); !ok || conflict.Name != "b" || !strings.HasPrefix(conflict.Error(), "b ") {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

package web

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/must"
)

func TestParamsOfJSON(t *testing.T) {
	nested := func(n int) string { return `{"x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `,"a":"1"}` }
	tests := []struct{ name, body, want string }{
		{"strings", `{"a":"1","b":"x y"}`, `a="1", b="x y"`},
		{"white space", " \r\n\t{ \"a\" : \"1\" } \n", `a="1"`},
		{"an empty object", `{}`, ""},
		{"a number keeps its text", `{"a":1.50e+2}`, `a="1.50e+2" number`},
		{"a negative number", `{"a":-0}`, `a="-0" number`},
		{"null is absent", `{"a":null,"b":"2"}`, `b="2"`},
		{"empty is given", `{"a":""}`, `a=""`},
		{"escapes", `{"a":"\u0041\n\"\\ü\ud83d\ude00"}`, `a="A\n\"\\ü😀"`},
		{"an escaped name is that name", `{"\u0061":"1"}`, `a="1"`},
		{"names in other letter case are others", `{"A":"1"}`, ""},
		{"others are ignored", `{"x":{"a":"2","l":[1,{"a":null},true]},"a":"1","y":false}`, `a="1"`},
		{"an escaped backslash before u0000 is no NUL", `{"a":"\\u0000","x":["\\u0000"]}`, `a="\\u0000"`},

		{"true", `{"a":true}`, "bad_body"},
		{"false", `{"a":false}`, "bad_body"},
		{"an object", `{"a":{}}`, "bad_body"},
		{"a list", `{"a":["1"]}`, "bad_body"},
		{"a name twice", `{"a":"1","a":"1"}`, "bad_body"},
		{"a name twice, once escaped", `{"a":"1","\u0061":"1"}`, "bad_body"},
		{"a name twice, once null", `{"a":null,"a":"1"}`, "bad_body"},
		{"another name twice", `{"x":1,"x":1}`, "bad_body"},
		{"a name twice further down", `{"x":[{"y":1,"y":2}]}`, "bad_body"},
		{"the same name on two levels", `{"x":{"x":{"x":1}}}`, ""},
		{"a raw NUL", "{\"a\":\"\x00\"}", "bad_body"},
		{"a NUL", `{"a":"\u0000"}`, "bad_body"},
		{"a NUL after a backslash", `{"a":"\\\u0000"}`, "bad_body"},
		{"a NUL in a name", `{"a\u0000":"1"}`, "bad_body"},
		{"a NUL in another value", `{"x":"\u0000"}`, "bad_body"},
		{"a NUL in a list", `{"x":["\u0000"]}`, "bad_body"},
		{"a NUL in a name further down", `{"x":{"\u0000":1}}`, "bad_body"},
		{"a NUL between the members", "{\"a\":\"1\"\x00}", "bad_body"},
		{"a control character", "{\"a\":\"\n\"}", "bad_body"},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", "bad_body"},
		{"invalid UTF-8 in another value", "{\"x\":\"\xff\"}", "bad_body"},
		{"invalid UTF-8 in a name", "{\"\xff\":1}", "bad_body"},
		{"a lone surrogate", `{"a":"\ud800"}`, "bad_body"},
		{"a lone surrogate in another value", `{"x":["\udc00"]}`, "bad_body"},
		{"something after the object", `{"a":"1"}{}`, "bad_body"},
		{"a word after the object", `{"a":"1"} x`, "bad_body"},
		{"a list instead of an object", `["a"]`, "bad_body"},
		{"a string instead of an object", `"a"`, "bad_body"},
		{"a form", `a=1`, "bad_body"},
		{"only white space", `  `, "bad_body"},
		{"unfinished", `{"a":"1"`, "bad_body"},
		{"unfinished name", `{"a`, "bad_body"},
		{"unfinished list", `{"x":[`, "bad_body"},
		{"a comma too many", `{"a":"1",}`, "bad_body"},
		{"a comma missing", `{"a":"1" "b":"2"}`, "bad_body"},
		{"a name without quotes", `{a:"1"}`, "bad_body"},
		{"single quotes", `{'a':'1'}`, "bad_body"},
		{"a number with a leading zero", `{"a":01}`, "bad_body"},
		{"a bare version", `{"a":1.2.3}`, "bad_body"},
		{"NaN", `{"a":NaN}`, "bad_body"},
		{"a comment", `{"a":"1"/**/}`, "bad_body"},
		{"an escape that does not exist", `{"a":"\x41"}`, "bad_body"},

		{"32 levels", nested(31), `a="1"`},
		{"33 levels", nested(32), "bad_body"},
		{"very many levels", nested(20_000), "bad_body"},
		{"33 levels of objects", strings.Repeat(`{"x":`, 33) + "1" + strings.Repeat("}", 33), "bad_body"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			post{contentType: typeJSON, body: tt.body}.check(t, tt.want)
			post{contentType: typeJSON, body: tt.body, chunked: true}.check(t, tt.want)
			post{method: "GET", contentType: typeJSON, body: tt.body}.check(t, tt.want)
		})
	}
}

func TestParamsOfJSONAndQuery(t *testing.T) {
	post{query: "a=1", contentType: typeJSON, body: `{"a":"1"}`}.check(t, `a="1" query`)
	post{query: "a=1", contentType: typeJSON, body: `{"a":1}`}.check(t, `a="1" number query`)
	post{query: "a=1", contentType: typeJSON, body: `{"a":null}`}.check(t, `a="1" query`)
	post{query: "a=1", contentType: typeJSON, body: `{"a":"2"}`}.check(t, "param_conflict")
	post{query: "a=1", contentType: typeJSON, body: `{"a":1.0}`}.check(t, "param_conflict")
}

func TestParamsOutliveTheirRequest(t *testing.T) {
	first := must.Get(ReadParams(httptest.NewRecorder(), post{contentType: typeJSON, body: `{"a":"kept"}`}.request(), "a"))(t)
	for range 10 {
		post{contentType: typeJSON, body: `{"a":"over"}`}.check(t, `a="over"`)
	}
	if got, _ := first.Get("a"); got != "kept" {
		t.Errorf("got %q", got)
	}
}

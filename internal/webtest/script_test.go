package webtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

// echo answers with what it received, so that a case can assert what was sent.
func echo(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/moved" {
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("ETag", fmt.Sprintf("%q", r.RequestURI))
	w.Header().Add("Vary", "A")
	w.Header().Add("Vary", "B")
	if r.URL.Path == "/missing" {
		w.WriteHeader(http.StatusNotFound)
	}
	out, err := json.Marshal(map[string]any{
		"line": r.Method + " " + r.RequestURI, "host": r.Host, "type": r.Header.Get("Content-Type"),
		"forwarded": r.Header.Get("X-Forwarded-For"), "key": r.Header.Values("X-Api-Key"),
		"length": r.ContentLength, "body": string(body),
	})
	if err == nil {
		_, err = w.Write(out)
	}
	if err != nil {
		panic(err)
	}
}

// runText runs a script given as text and returns the first case's error.
func runText(t *testing.T, text string) error {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a.txt")
	must.Do(t, os.WriteFile(file, []byte(text), 0o600))
	s, err := readScript(file)
	if err != nil {
		return err
	}
	server := httptest.NewServer(http.HandlerFunc(echo))
	defer server.Close()
	r := newRunner(server.Listener.Addr().String(), s, nil)
	for _, c := range s.cases {
		if err := r.run(c); err != nil {
			return err
		}
	}
	return nil
}

func TestRequestsAreSentAsWritten(t *testing.T) {
	for _, test := range []struct{ rule, request, want string }{
		{"the target is sent untouched", "GET /a//../%2Fz?q=%ff&x=1", `"line":"GET /a//../%2Fz?q=%ff\u0026x=1"`},
		{"a method is sent in its letter case", "get /", `"line":"get /"`},
		{"header lines repeat", "GET /\nheader X-Api-Key: a\nheader x-api-key: b", `"key":["a","b"]`},
		{"a header may be empty", "GET /\nheader X-Api-Key:", `"key":[""]`},
		{"Host is the host", "GET /\nheader Host: shop.example", `"host":"shop.example"`},
		{"a peer is forwarded", "GET /\npeer 192.0.2.1", `"forwarded":"192.0.2.1"`},
		{"a form is urlencoded", "POST /\nform a=1", `"type":"application/x-www-form-urlencoded"`},
		{"a form is sent as the body", "POST /\nform a=1", `"body":"a=1"`},
		{"json says so", "POST /\njson {}", `"type":"application/json"`},
		{"a header wins over json", "POST /\nheader Content-Type: text/x\njson {}", `"type":"text/x"`},
		{"text has no type", "POST /\ntext a", `"body":"a","forwarded":"","host":"h","key":null,"length":1,"line":"POST /","type":""`},
		{"body lines append", "POST /\ntext a\nrepeat \"b\" 3\nbytes \"\\x01\"", `"body":"abbb\u0001"`},
		{"indented lines continue", "POST /\njson {\n  \"a\":\n  1}", `"body":"{\"a\":1}"`},
		{"a GET may have a body", "GET /\njson {}", `"body":"{}"`},
		{"a known length is sent", "POST /\ntext abc", `"length":3`},
		{"chunked sends no length", "POST /\ntext abc\nchunked", `"length":-1`},
		{"multipart has a boundary", "POST /\nmultipart a=%2B", `"type":"multipart/form-data; boundary=`},
		{"multipart values are decoded", "POST /\nmultipart a=%2B", `name=\"a\"\r\n\r\n+\r\n`},
		{"raw is sent as it is", `raw "GET //x HTTP/1.1\r\nHost: h\r\n"` + "\n" + `raw "Connection: close\r\n\r\n"`, `"line":"GET //x"`},
	} {
		t.Run(test.rule, func(t *testing.T) {
			request := test.request
			if strings.Contains(test.want, `"host":"h"`) {
				request += "\nheader Host: h"
			}
			expect.NoError(t, runText(t, "# a\n"+request+"\ncode 200\ncontains "+test.want+"\n"))
		})
	}
}

func TestExpectations(t *testing.T) {
	body := `{"body":"","forwarded":"","host":"h","key":null,"length":0,"line":"GET /","type":""}`
	for _, test := range []struct{ expectation, wrong string }{
		{"code 200", "code 404"},
		{"reply Content-Type: application/json", "reply Content-Type: application"},
		{"reply Content-Type ~ ^app.*json$", "reply Content-Type ~ ^json"},
		{"reply Content-Type != text/html", "reply Content-Type != application/json"},
		{"reply Vary: A, B", "reply Vary: A"},
		{"reply ETag: \"/\"", "reply X-None: a"},
		{"reply ETag ~ .", "reply X-None != a"},
		{"noreply Location", "noreply ETag"},
		{"body " + body, "body " + body[:len(body)-1]},
		{"body " + body, "body " + body + "}"},
		{"contains \"line\":\"GET /\"", "contains POST"},
		{"lacks POST", "lacks GET"},
		{"remember ETag as tag", "remember X-None as tag"},
		{"contains GET", "empty"},
	} {
		t.Run(test.wrong, func(t *testing.T) {
			request := "# a\nGET /\nheader Host: h\n"
			rest := "\ncontains {\ncode 200\n"
			if strings.HasPrefix(test.wrong, "code") {
				rest = "\ncontains {\n"
			}
			expect.NoErrorf(t, runText(t, request+test.expectation+rest), "a right expectation fails")
			if err := runText(t, request+test.wrong+rest); err == nil {
				t.Error("a wrong expectation passes")
			} else if !strings.Contains(err.Error(), "a.txt:4: ") {
				t.Errorf("the error does not name the line: %v", err)
			}
		})
	}
}

func TestAllThatIsWrongIsReported(t *testing.T) {
	err := runText(t, "every reply X-One: 1\n\n# a\nGET /\ncode 404\nbody x\n")
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"a.txt:1: no X-One", "a.txt:5: code 200, want 404", "a.txt:6: the body differs from byte 0"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in: %v", want, err)
		}
	}
}

func TestScriptsThatAssertNothingOrSayWhatIsUnknownFail(t *testing.T) {
	for rule, text := range map[string]string{
		"no cases":                        "# prose\n",
		"no code":                         "# a\nGET /\ncontains {\n",
		"two codes":                       "# a\nGET /\ncode 200\ncode 200\ncontains {\n",
		"no body expectation":             "# a\nGET /\ncode 200\nreply ETag ~ .\n",
		"lacks alone is not enough":       "# a\nGET /\ncode 200\nlacks x\n",
		"no name":                         "GET /\ncode 200\ncontains {\n",
		"two cases of one name":           "# a\nGET /\ncode 200\ncontains {\n\n# a\nGET /\ncode 200\ncontains {\n",
		"unknown word":                    "# a\nGET /\ncode 200\ncontains {\nreplies ETag: x\n",
		"unknown word after every":        "every thing\n\n# a\nGET /\ncode 200\ncontains {\n",
		"unknown name":                    "# a\nGET /{{none}}\ncode 200\ncontains {\n",
		"unknown name in an expectation":  "# a\nGET /\ncode 200\ncontains {{none}}\n",
		"a name set twice":                "set a 1\nset a 2\n\n# a\nGET /\ncode 200\ncontains {\n",
		"base is not to be set":           "set base 1\n\n# a\nGET /\ncode 200\ncontains {\n",
		"names in a circle":               "set a {{b}}\nset b {{a}}\n\n# a\nGET /{{a}}\ncode 200\ncontains {\n",
		"set inside a case":               "# a\nGET /\nset a 1\ncode 200\ncontains {\n",
		"case inside a head block":        "set a 1\nGET /\ncode 200\ncontains {\n",
		"comment inside a case":           "# a\nGET /\n# b\ncode 200\ncontains {\n",
		"space at the end of a line":      "# a\nGET / \ncode 200\ncontains {\n",
		"nothing to continue":             "  # a\nGET /\ncode 200\ncontains {\n",
		"missing include":                 "include none\n\n# a\nGET /\ncode 200\ncontains {\n",
		"no target":                       "# a\nGET\ncode 200\ncontains {\n",
		"a target net/http would rewrite": "# a\nGET //x\ncode 200\ncontains {\n",
		"raw beside a request line":       "# a\nGET /\nraw \"x\"\ncode 200\ncontains {\n",
		"header beside raw":               "# a\nraw \"GET / HTTP/1.0\\r\\n\\r\\n\"\nheader A: b\ncode 200\ncontains {\n",
		"raw is a Go string":              "# a\nraw x\ncode 200\ncontains {\n",
		"bytes is a Go string":            "# a\nPOST /\nbytes x\ncode 200\ncontains {\n",
		"repeat without a number":         "# a\nPOST /\nrepeat \"x\"\ncode 200\ncontains {\n",
		"repeat without a string":         "# a\nPOST /\nrepeat 3\ncode 200\ncontains {\n",
		"broken multipart":                "# a\nPOST /\nmultipart a=%zz\ncode 200\ncontains {\n",
		"header without a colon":          "# a\nGET /\nheader A\ncode 200\ncontains {\n",
		"code is a number":                "# a\nGET /\ncode ok\ncontains {\n",
		"reply without a value":           "# a\nGET /\ncode 200\nreply ETag\ncontains {\n",
		"reply with a broken regexp":      "# a\nGET /\ncode 200\nreply ETag ~ (\ncontains {\n",
		"noreply without a name":          "# a\nGET /\ncode 200\nnoreply\ncontains {\n",
		"contains without a text":         "# a\nGET /\ncode 200\ncontains\n",
		"lacks without a text":            "# a\nGET /\ncode 200\ncontains {\nlacks\n",
		"empty with a text":               "# a\nGET /\ncode 200\nempty body\n",
		"remember without a name":         "# a\nGET /\ncode 200\ncontains {\nremember ETag\n",
	} {
		t.Run(rule, func(t *testing.T) {
			if err := runText(t, text); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestCheckJudgesEveryAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(echo))
	defer server.Close()
	for request, want := range map[string]string{
		"GET /missing?a=1": "GET /missing 404 application/json",
		`raw "PUT http://h/missing?a=1 HTTP/1.0\r\n\r\n"`:    "PUT /missing 404 application/json",
		`raw "POST /%20 HTTP/1.0\r\nHost: h\r\n\r\n"`:        "POST /%20 200 application/json",
		"DELETE /\nheader Content-Type: text/html\ntext <a>": "DELETE / 200 application/json",
	} {
		var got string
		r := newRunner(server.Listener.Addr().String(), &script{names: map[string]string{}},
			func(method, path string, status int, header http.Header, body []byte) error {
				got = fmt.Sprint(method, " ", path, " ", status, " ", header.Get("Content-Type"))
				if len(body) == 0 {
					return errors.New("no body")
				}
				return errors.New("unlike the document")
			})
		b := must.Get(splitBlocks("a.txt", request))(t)
		err := r.run(scriptCase{title: "a", request: b[0].lines})
		expect.Equalf(t, got, want, "check was given")
		if err == nil || !strings.Contains(err.Error(), "a.txt:1: unlike the document") {
			t.Errorf("the verdict of check is lost: %v", err)
		}
	}
}

func TestRunMakesASubtestOfEachFileAndCase(t *testing.T) {
	file := filepath.Join(t.TempDir(), "echo.txt")
	text := "# one\nGET /\ncode 200\ncontains GET\n\n# two\nGET /missing\ncode 404\ncontains GET\n"
	must.Do(t, os.WriteFile(file, []byte(text), 0o600))
	var asked []string
	Run(t, http.HandlerFunc(echo), []string{file},
		func(method, path string, status int, header http.Header, body []byte) error {
			asked = append(asked, method+" "+path)
			return nil
		})
	expect.Equalf(t, strings.Join(asked, ", "), "GET /, GET /missing", "asked")
}

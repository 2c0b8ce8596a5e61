package snippet_test

import (
	"fmt"
	"go/format"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/api"
	"github.com/countersign/countersign/internal/store/snippet"
	"github.com/countersign/countersign/internal/store/storetest"
)

var shop = storetest.NewTemplate("../api/testdata/shop.jsonl", store.Options{})

// validation is a call that validates a purchase code.
func validation(base, code string) snippet.Call {
	return snippet.Call{
		URL: base + "/api/purchases/validation", Post: true, Member: "data", NotFound: "the purchase code is not valid",
		Params: []snippet.Param{{Name: "purchase_code", Value: code}},
	}
}

func item(base, id string) snippet.Call {
	return snippet.Call{URL: base + "/api/items/item", Member: "item", NotFound: "no such item", Params: []snippet.Param{{Name: "item_id", Value: id}}}
}

func items(base string) snippet.Call {
	return snippet.Call{URL: base + "/api/items/all", Member: "items", NotFound: "no items"}
}

// runners say how the code of a language is run here: the program that it needs, the name of
// its file, and a command without arguments. Others are only checked, or read.
var runners = map[string]struct {
	program, file string
	command       func(file string) []string
}{
	"curl":   {"curl", "a.sh", func(file string) []string { return []string{"sh", file} }},
	"php":    {"php", "a.php", func(file string) []string { return []string{"php", file} }},
	"node":   {"node", "a.mjs", func(file string) []string { return []string{"node", file} }},
	"python": {"python3", "a.py", func(file string) []string { return []string{"python3", file} }},
	"go":     {"go", "main.go", func(file string) []string { return []string{strings.TrimSuffix(file, ".go")} }},
}

// program is the code of a call, which can be run many times.
type program struct {
	language string
	command  []string
}

func newProgram(t *testing.T, l snippet.Language, c snippet.Call) program {
	t.Helper()
	r := runners[l.Name]
	file := filepath.Join(t.TempDir(), r.file)
	must.Do(t, os.WriteFile(file, []byte(write(t, l, c)), 0o600))
	if l.Name == "go" { // without what a debugger needs, which takes a third of the time
		build := exec.Command("go", "build", "-ldflags=-s -w", "-o", strings.TrimSuffix(file, ".go"), file)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return program{l.Name, r.command(file)}
}

// run runs the program with an API key and returns what it printed.
func (p program) run(t *testing.T, key string) string {
	t.Helper()
	c := exec.Command(p.command[0], p.command[1:]...)
	c.Env = append(os.Environ(), "COUNTERSIGN_API_KEY="+key)
	out, err := c.CombinedOutput()
	if err != nil && p.language != "curl" { // which fails without a response
		t.Errorf("%v\n%s", err, out)
	}
	return string(out)
}

func write(t *testing.T, l snippet.Language, c snippet.Call) string {
	t.Helper()
	return must.Get(l.Write(c))(t)
}

// eachRunnable runs fn with each language that can be run here.
func eachRunnable(t *testing.T, fn func(t *testing.T, l snippet.Language)) {
	dbtest.Long(t)
	for _, l := range snippet.Languages() {
		r, runs := runners[l.Name]
		if !runs {
			continue
		}
		t.Run(l.Name, func(t *testing.T) {
			t.Parallel()
			dbtest.NeedProgram(t, r.program)
			fn(t, l)
		})
	}
}

// newServer serves a store whose clients get what their keys ask for: "limited", "down",
// "gone" or "page"; with any other key it is the store that answers.
func newServer(t *testing.T) (s *store.Store, base string) {
	t.Helper()
	s = storetest.Open(t, shop.New(t, dbtest.SQLite), store.Options{})
	real := api.New(s, api.Options{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("Authorization") {
		case "Bearer limited":
			w.Header().Set("Retry-After", "42")
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprint(w, `{"status":"error","msg":"Too many requests"}`)
		case "Bearer down":
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"status":"error","msg":"Service unavailable"}`)
		case "Bearer page":
			fmt.Fprint(w, "<html>A proxy</html>")
		case "Bearer gone":
			panic(http.ErrAbortHandler)
		default:
			real.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return s, server.URL
}

func TestTheCodeWorksWithAStore(t *testing.T) {
	eachRunnable(t, func(t *testing.T, l snippet.Language) {
		s, base := newServer(t)
		_, key, err := s.CreateKey(t.Context(), people.Operator("test"), store.NewKey{Workspace: "ada", Name: "code", Class: store.ClassSecret})
		must.Do(t, err)
		valid := newProgram(t, l, validation(base, "7c0f3b1e-5d2a-4c44-9b1e-000000000001"))
		cases := []struct {
			name, key string
			program   program
			want      string // what is printed; for curl, which prints everything, curl
			curl      string
		}{
			{"a valid code", key, valid, `"purchase_code"`, "HTTP/1.1 200"},
			{"an unknown code", key, newProgram(t, l, validation(base, "none")), "Invalid purchase code", "HTTP/1.1 404"},
			{"an unknown key", "csk_none", valid, "Check the API key.", "HTTP/1.1 401"},
			{"a limit", "limited", valid, "Too many calls. Retry-After: 42 s", "Retry-After: 42"},
			{"a store that is down", "down", valid, "keep the last good response", "HTTP/1.1 503"},
			{"a page instead of JSON", "page", valid, "keep the last good response", "<html>"},
			{"a connection that ends", "gone", valid, "keep the last good response", "Empty reply"},
			{"an item", key, newProgram(t, l, item(base, "1229")), "1229", `"id":1229`},
			{"an unknown item", key, newProgram(t, l, item(base, "7")), "Item Not Found", "HTTP/1.1 404"},
			{"all items", key, newProgram(t, l, items(base)), "1229", `"id":1229`},
		}
		for _, c := range cases {
			want := c.want
			if l.Name == "curl" {
				want = c.curl
			}
			if got := c.program.run(t, c.key); !strings.Contains(got, want) {
				t.Errorf("%s: got %q, want %q", c.name, got, want)
			}
		}
	})
}

// hostile are texts that would end a literal, or do something in one.
var hostile = []string{
	`'`, `"`, `\`, `\'`, `"; process.exit(7); "`, `'); system('id'); ('`, `$(id) ${HOME} $HOME ` + "`id`", `#{id} {{.URL}} %s %d`,
	`?> <script>alert(1)</script> */ // -- #`, `@/etc/passwd`, `a=b&purchase_code=c`, `\u0041\x41\101`, `'''"""`, "größer ☕ 𝄞",
}

func TestHostileValuesArriveAsTheyAre(t *testing.T) {
	eachRunnable(t, func(t *testing.T, l snippet.Language) {
		var got []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = append(got, r.FormValue("purchase_code"))
			fmt.Fprint(w, `{"status":"success","data":{}}`)
		}))
		defer server.Close()
		c := validation(server.URL, "")
		all := strings.Join(hostile, " ")
		for _, value := range []string{all, hostile[0] + all + hostile[2]} {
			for _, c.Post = range []bool{true, false} {
				c.Params[0].Value = value
				got = nil
				if out := newProgram(t, l, c).run(t, "key"); len(got) != 1 || got[0] != value {
					t.Errorf("POST %t: got %q, want %q; printed %s", c.Post, got, value, out)
				}
			}
		}
	})
}

func TestTheCodeOfPHPHasNoErrors(t *testing.T) {
	dbtest.NeedProgram(t, "php")
	for _, l := range snippet.Languages() {
		if l.Name != "php" && l.Name != "laravel" && l.Name != "wordpress" {
			continue
		}
		for _, c := range []snippet.Call{validation("https://shop.example", strings.Join(hostile, " ")), item("https://shop.example", "1"), items("https://shop.example")} {
			lint := exec.Command("php", "-l")
			lint.Stdin = strings.NewReader(write(t, l, c))
			if out, err := lint.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", l.Name, err, out)
			}
		}
	}
}

func TestTheCodeOfGoIsFormatted(t *testing.T) {
	for _, l := range snippet.Languages() {
		if l.Name != "go" {
			continue
		}
		for _, c := range []snippet.Call{validation("https://shop.example", `a"b`), item("https://shop.example", "1"), items("https://shop.example")} {
			text := write(t, l, c)
			if formatted, err := format.Source([]byte(text)); err != nil || string(formatted) != text {
				t.Errorf("%v\n%s", err, formatted)
			}
		}
	}
}

func TestNoCodeHasAKey(t *testing.T) {
	for _, l := range snippet.Languages() {
		text := write(t, l, validation("https://shop.example", "code"))
		if !strings.Contains(text, "COUNTERSIGN_API_KEY") || !strings.Contains(text, "Bearer") && !strings.Contains(text, "withToken(") {
			t.Errorf("%s:\n%s", l.Name, text)
		}
	}
}

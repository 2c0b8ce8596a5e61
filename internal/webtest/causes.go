package webtest

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/must"
)

var routePattern = regexp.MustCompile(`\("(GET|POST|PUT|PATCH|DELETE)(?: |", ")(/[^"\s]*)"`)

// Routes lists the addresses in a table of routes as METHOD PATH.
func Routes(t *testing.T, file string) (all []string) {
	t.Helper()
	text := must.Get(os.ReadFile(file))(t)
	for _, found := range routePattern.FindAllStringSubmatch(string(text), -1) {
		all = append(all, found[1]+" "+strings.TrimSuffix(found[2], "{$}"))
	}
	if len(all) < 10 {
		t.Fatalf("only %d routes were found in %s", len(all), file)
	}
	return all
}

// WantCause sends a request, and reports whether the response was 500 or was broken off. In that case, it wants the id of
// the request and the cause in the server's log.
func (b *Browser) WantCause(log *Log, cause, route, body string, headers ...string) (failed bool) {
	b.T.Helper()
	method, path, _ := strings.Cut(route, " ")
	r, err := http.NewRequestWithContext(b.T.Context(), method, b.Address+b.Base+path, strings.NewReader(body))
	if err != nil {
		b.T.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	before, id := len(log.String()), ""
	response, err := b.Do(r)
	if err == nil {
		response.Body.Close()
		if response.StatusCode != http.StatusInternalServerError {
			return false
		}
		id = response.Header.Get("X-Request-Id")
	}
	if lines := log.String()[before:]; !strings.Contains(lines, id) || !strings.Contains(lines, cause) {
		b.T.Errorf("%s: request %q, log %q", route, id, lines)
	}
	return true
}

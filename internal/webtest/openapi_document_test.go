package webtest

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

const storeDocument = "../store/api/openapi.json"

func storeOracle(t *testing.T) *Oracle {
	t.Helper()
	text := must.Get(os.ReadFile(storeDocument))(t)
	return must.Get(NewOracle(text))(t)
}

func TestTheStoresDocumentIsWhole(t *testing.T) {
	o := storeOracle(t)
	for path, methods := range map[string][]string{
		"/api/account/details":      {"GET", "HEAD", "OPTIONS"},
		"/api/items/all":            {"GET", "HEAD", "OPTIONS"},
		"/api/items/item":           {"GET", "HEAD", "OPTIONS"},
		"/api/purchases/validation": {"POST", "OPTIONS"},
	} {
		if len(o.paths[path]) != len(methods) {
			t.Errorf("%s lists %d methods, want %v", path, len(o.paths[path]), methods)
		}
		for _, method := range methods {
			statuses := []int{200, 400, 401, 403, 413, 415, 429, 500, 503}
			if method == "OPTIONS" {
				statuses = []int{204}
			}
			for _, status := range statuses {
				if _, ok := o.paths[path][method][strconv.Itoa(status)]; !ok {
					t.Errorf("%s %s does not list %d", method, path, status)
				}
			}
		}
	}
	for _, path := range []string{"/api/licenses", "/api/licenses/move", "/api/licenses/revoke", "/api/licenses/check", "/api/licenses/revoked", "/.well-known/jwks.json"} {
		if len(o.paths[path]) == 0 {
			t.Errorf("%s is not described", path)
		}
	}
	if len(o.paths) != 10 {
		t.Errorf("%d paths, want the four endpoints and six of licenses", len(o.paths))
	}
}

// Every object that the store prints is closed: a member that nobody described fails.
func TestPrintedObjectsAreClosed(t *testing.T) {
	d := storeJSON(t)
	for name, schema := range members(d, "components", "schemas") {
		if strings.HasSuffix(name, "Request") {
			continue // what others send is open
		}
		assertClosed(t, name, schema)
	}
}

func assertClosed(t *testing.T, where string, schema any) {
	t.Helper()
	if members(schema)["type"] == "object" {
		if _, ok := members(schema)["additionalProperties"]; !ok {
			t.Errorf("%s takes any member", where)
		}
	}
	for name, property := range members(schema, "properties") {
		assertClosed(t, where+"."+name, property)
	}
}

func TestExamplesAreWhatTheDocumentSays(t *testing.T) {
	d, o := storeJSON(t), storeOracle(t)
	checked := 0
	for path, operations := range o.paths {
		for method, op := range operations {
			for status, r := range op {
				node := must.Get((&document{root: d}).responseNode(path, method, status))(t)
				for name, example := range members(node, "content", "application/json", "examples") {
					checked++
					expect.NoErrorf(t, r.body.Validate(members(example)["value"]), "%s %s %s, example %s", method, path, status, name)
				}
			}
		}
	}
	if checked < 60 {
		t.Errorf("only %d examples", checked)
	}
}

func (d *document) responseNode(path, method, status string) (any, error) {
	node, _, err := d.follow("/paths/" + escape(path) + "/" + strings.ToLower(method) + "/responses/" + status)
	return node, err
}

func TestTheStoresDocumentIsPrettyPrinted(t *testing.T) {
	text := must.Get(os.ReadFile(storeDocument))(t)
	var want bytes.Buffer
	must.Do(t, json.Indent(&want, text, "", "  "))
	expect.Equalf(t, want.String(), string(text), "the document is not indented by two spaces")
}

func storeJSON(t *testing.T) any {
	t.Helper()
	text := must.Get(os.ReadFile(storeDocument))(t)
	return must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(text)))(t)
}

package sample

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"testing"

	"github.com/countersign/countersign/internal/must"
)

// The examples of the OpenAPI document are what the demo's store answers.
func TestExamplesOfTheDocumentAreTrue(t *testing.T) {
	text := must.Get(os.ReadFile("../api/openapi.json"))(t)
	e := examples{t, map[string]map[string]any{}, map[string]int{}}
	for _, line := range shop(Options{}) {
		e.learn(decode(t, []byte(line)))
	}
	e.walk(decode(t, text))
	if e.seen["workspace"] == 0 || e.seen["item"] < 5 || e.seen["purchase"] == 0 {
		t.Errorf("examples compared: %v", e.seen)
	}
}

// examples compares every account, item and purchase in a document with the shop.
type examples struct {
	t     *testing.T
	lines map[string]map[string]any // by type and natural key, as the API prints them
	seen  map[string]int
}

// learn keeps a line without what the API does not print.
func (e examples) learn(line map[string]any) {
	kind := line["type"].(string)
	key := line[map[string]string{"workspace": "username", "item": "id", "purchase": "purchase_code"}[kind]]
	if kind == "workspace" {
		name := line["name"].(map[string]any)
		name["full_name"] = name["firstname"].(string) + " " + name["lastname"].(string)
	}
	for _, member := range []string{"type", "workspace", "kind", "support", "state", "state_at", "buyer"} {
		delete(line, member)
	}
	e.lines[kind+" "+asText(key)] = line
}

func (e examples) walk(node any) {
	switch node := node.(type) {
	case []any:
		for _, child := range node {
			e.walk(child)
		}
	case map[string]any:
		e.compare(node)
		for child := range maps.Values(node) {
			e.walk(child)
		}
	}
}

func (e examples) compare(object map[string]any) {
	kind, key := "", any(nil)
	switch {
	case isText(object["username"]):
		kind, key = "workspace", object["username"]
	case isText(object["sub_category"]):
		kind, key = "item", object["id"]
	case isText(object["purchase_code"]) && object["date"] != nil:
		kind, key = "purchase", object["purchase_code"]
	default:
		return
	}
	e.seen[kind]++
	want := e.lines[kind+" "+asText(key)]
	if kind == "purchase" {
		item := object["item"].(map[string]any)
		want = maps.Clone(want)
		if asText(want["item_id"]) != asText(item["id"]) {
			e.t.Errorf("purchase %v is not of item %v", key, item["id"])
		}
		delete(want, "item_id")
		want["item"] = item // compared by itself
	}
	if !reflect.DeepEqual(object, want) {
		e.t.Errorf("example of %s %v:\n got %v\nwant %v", kind, key, object, want)
	}
}

func isText(v any) bool { _, ok := v.(string); return ok }

func asText(v any) string {
	if n, ok := v.(json.Number); ok {
		return n.String()
	}
	return v.(string)
}

// decode keeps the text of numbers, so that 49.00 is not 49.
func decode(t *testing.T, text []byte) map[string]any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v map[string]any
	must.Do(t, d.Decode(&v))
	return v
}

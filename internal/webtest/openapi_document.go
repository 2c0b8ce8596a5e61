package webtest

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// documentURL is the name under which schemas of the document refer to each other;
// nothing is fetched.
const documentURL = "openapi:///document.json"

// document is an OpenAPI document on its way into an Oracle. Places in it are named
// by JSON pointers.
type document struct {
	root     any
	compiler *jsonschema.Compiler
	headers  map[string]bool
}

func readDocument(text []byte) (*document, error) {
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource(documentURL, root); err != nil {
		return nil, err
	}
	return &document{root, c, map[string]bool{}}, nil
}

// operations reads a path item: its members that are methods.
func (d *document) operations(pointer string, item any) (map[string]operation, error) {
	all := map[string]operation{}
	for name, op := range members(item) {
		switch method := strings.ToUpper(name); method {
		case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
			http.MethodDelete, http.MethodOptions, http.MethodTrace:
			all[method] = operation{}
			for status := range members(op, "responses") {
				r, err := d.response(pointer + "/" + name + "/responses/" + escape(status))
				if err != nil {
					return nil, fmt.Errorf("%s %s: %w", name, status, err)
				}
				all[method][status] = r
			}
		}
	}
	return all, nil
}

func (d *document) response(pointer string) (response, error) {
	node, pointer, err := d.follow(pointer)
	if err != nil {
		return response{}, err
	}
	r := response{headers: map[string]headerRule{}}
	for name := range members(node, "headers") {
		rule, err := d.header(pointer + "/headers/" + escape(name))
		if err != nil {
			return response{}, fmt.Errorf("header %s: %w", name, err)
		}
		r.headers[http.CanonicalHeaderKey(name)] = rule
		d.headers[http.CanonicalHeaderKey(name)] = true
	}
	if members(node, "content") == nil {
		return r, nil
	}
	r.body, err = d.schema(pointer + "/content/application~1json/schema")
	return r, err
}

func (d *document) header(pointer string) (headerRule, error) {
	node, pointer, err := d.follow(pointer)
	if err != nil {
		return headerRule{}, err
	}
	schema, err := d.schema(pointer + "/schema")
	if err != nil {
		return headerRule{}, err
	}
	of := members(node, "schema")["type"]
	return headerRule{members(node)["required"] == true, of == "integer" || of == "number", schema}, nil
}

func (d *document) schema(pointer string) (*jsonschema.Schema, error) {
	s, err := d.compiler.Compile(documentURL + "#" + pointer)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", pointer, err)
	}
	return s, nil
}

// follow returns the object at a pointer, and where it stands once references are
// followed.
func (d *document) follow(pointer string) (any, string, error) {
	for range 8 {
		node := d.root
		for part := range strings.SplitSeq(pointer[1:], "/") {
			node = members(node)[unescape(part)]
		}
		if node == nil {
			return nil, "", fmt.Errorf("nothing at %s", pointer)
		}
		ref, ok := members(node)["$ref"].(string)
		if !ok {
			return node, pointer, nil
		}
		if !strings.HasPrefix(ref, "#/") {
			return nil, "", fmt.Errorf("%s refers to another document: %s", pointer, ref)
		}
		pointer = ref[1:]
	}
	return nil, "", fmt.Errorf("references go in a circle at %s", pointer)
}

// members returns the members of the object that stands under names in node, nil
// when there is none.
func members(node any, names ...string) map[string]any {
	object, _ := node.(map[string]any)
	for _, name := range names {
		object, _ = object[name].(map[string]any)
	}
	return object
}

// escape writes the name of a member as a part of a JSON pointer (RFC 6901).
func escape(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

func unescape(part string) string { return strings.NewReplacer("~1", "/", "~0", "~").Replace(part) }

package docs

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// node is a value of a JSON document whose members keep their order.
type node struct {
	members  []member // of an object
	elements []node   // of an array
	text     string   // of a string, a number, true or false
	raw      []byte   // the value as JSON
}

type member struct {
	name  string
	value node
}

// document is a JSON document whose references ($ref) lead to its own parts.
type document struct{ root node }

func parseDocument(source []byte) (document, error) {
	d := jsontext.NewDecoder(bytes.NewReader(source))
	root, err := readNode(d)
	return document{root}, err
}

func readNode(d *jsontext.Decoder) (n node, err error) {
	switch d.PeekKind() {
	case '{', '[':
		raw, err := d.ReadValue()
		if err != nil {
			return node{}, err
		}
		n, err = readParts(raw)
		n.raw = raw
		return n, err
	default:
		raw, err := d.ReadValue()
		if err != nil {
			return node{}, err
		}
		text := string(raw)
		if raw.Kind() == '"' {
			unquoted, err := jsontext.AppendUnquote(nil, raw)
			if err != nil {
				return node{}, err
			}
			text = string(unquoted)
		}
		return node{text: text, raw: raw}, nil
	}
}

// readParts reads what stands between the brackets of an object or an array.
func readParts(raw jsontext.Value) (n node, err error) {
	raw = raw.Clone() // the decoder reuses the memory
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	open, err := d.ReadToken()
	if err != nil {
		return node{}, err
	}
	for kind := d.PeekKind(); kind != '}' && kind != ']'; kind = d.PeekKind() {
		var name string
		if open.Kind() == '{' {
			token, err := d.ReadToken()
			if err != nil {
				return node{}, err
			}
			name = token.String()
		}
		value, err := readNode(d)
		if err != nil {
			return node{}, err
		}
		value.raw = bytes.Clone(value.raw)
		if open.Kind() == '{' {
			n.members = append(n.members, member{name, value})
		} else {
			n.elements = append(n.elements, value)
		}
	}
	return n, nil
}

// get returns the part of a value that a path of names leads to, following
// references; a part that is absent is empty.
func (d document) get(n node, path ...string) node {
	n = d.follow(n)
	for _, name := range path {
		n = d.follow(n.own(name))
	}
	return n
}

// follow returns what a reference refers to, and any other value as it is.
func (d document) follow(n node) node {
	for ref := n.own("$ref").text; ref != ""; ref = n.own("$ref").text {
		n = d.root
		for _, name := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
			n = n.own(name)
		}
	}
	return n
}

// own returns a member of an object, empty when it is absent.
func (n node) own(name string) node {
	for _, m := range n.members {
		if m.name == name {
			return m.value
		}
	}
	return node{}
}

func (n node) texts() (list []string) {
	for _, e := range n.elements {
		list = append(list, e.text)
	}
	return list
}

// indented returns a value as JSON for reading.
func (n node) indented() (string, error) {
	v := jsontext.Value(bytes.Clone(n.raw))
	if err := v.Indent(jsontext.WithIndent("  ")); err != nil {
		return "", fmt.Errorf("indent: %w", err)
	}
	return string(v), nil
}

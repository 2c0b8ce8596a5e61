package docs

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
)

// Reference is what an OpenAPI document says, arranged for a page.
type Reference struct {
	Title, HTML string // HTML is rendered from the document's description
	Groups      []Group
}

// Group is the operations with one tag.
type Group struct {
	Name, Description string
	Operations        []Operation
}

// Operation is a method of a path.
type Operation struct {
	ID, Method, Path, Summary string
	HTML                      string // the description
	Parameters                []Field
	// Body is the members of the request's JSON object or form; Example is one, as JSON.
	Body      []Field
	Example   string
	Responses []Response
}

// Field is a parameter, or a member of a JSON object.
type Field struct {
	// Name is the path of a member in its object, like "media.avatar" or "items[].id".
	Name string
	// In is where a parameter stands: query, header or path.
	In       string
	Type     string
	Required bool
	HTML     string
}

// Response is what an operation answers with one status.
type Response struct {
	Status string
	// Summary is the first sentence of the description, without marks; HTML is all of it.
	Summary, HTML string
	// Codes are the values of X-Error-Code.
	Codes   []string
	Fields  []Field
	Example string
}

// ReadReference arranges an OpenAPI 3.1 document. Methods without a text of their own,
// HEAD and OPTIONS, are left out.
func ReadReference(source []byte) (Reference, error) {
	doc, err := parseDocument(source)
	if err != nil {
		return Reference{}, fmt.Errorf("OpenAPI document: %w", err)
	}
	b := &builder{document: doc}
	r := Reference{Title: doc.get(doc.root, "info", "title").text, HTML: b.html(doc.get(doc.root, "info", "description").text)}
	for _, tag := range doc.root.own("tags").elements {
		r.Groups = append(r.Groups, Group{Name: tag.own("name").text, Description: tag.own("description").text})
	}
	for _, path := range doc.root.own("paths").members {
		for _, method := range path.value.members {
			if slices.Contains([]string{"get", "post", "put", "patch", "delete"}, method.name) {
				b.add(r.Groups, path.name, method)
			}
		}
	}
	return r, b.err
}

// builder arranges parts of a document and keeps the first error.
type builder struct {
	document
	err error
}

func (b *builder) fail(err error) { b.err = cmp.Or(b.err, err) }

func (b *builder) html(markdown string) string {
	var out bytes.Buffer
	if err := goldmark.Convert([]byte(markdown), &out); err != nil {
		b.fail(err)
	}
	return out.String()
}

// add arranges an operation and adds it to the group of its first tag.
func (b *builder) add(groups []Group, path string, method member) {
	o := method.value
	op := Operation{
		ID: o.own("operationId").text, Method: strings.ToUpper(method.name), Path: path,
		Summary: o.own("summary").text, HTML: b.html(o.own("description").text),
	}
	for _, p := range o.own("parameters").elements {
		op.Parameters = append(op.Parameters, b.parameter(p))
	}
	content := b.get(o, "requestBody", "content", "application/json")
	op.Body = b.fields("", b.get(content, "schema"), nil)
	op.Example = b.example(content)
	for _, status := range o.own("responses").members {
		op.Responses = append(op.Responses, b.response(status))
	}
	slices.SortStableFunc(op.Responses, func(a, b Response) int { return strings.Compare(a.Status, b.Status) })
	tags := o.own("tags").texts()
	for i := range groups {
		if slices.Contains(tags, groups[i].Name) {
			groups[i].Operations = append(groups[i].Operations, op)
			return
		}
	}
	b.fail(fmt.Errorf("%s %s has no tag of the document", op.Method, path))
}

func (b *builder) parameter(n node) Field {
	n = b.follow(n)
	return Field{
		Name: n.own("name").text, In: n.own("in").text, Type: b.typeName(b.get(n, "schema")),
		Required: n.own("required").text == "true", HTML: b.html(n.own("description").text),
	}
}

func (b *builder) response(m member) Response {
	n := b.follow(m.value)
	content := b.get(n, "content", "application/json")
	return Response{
		Status: m.name, Summary: firstSentence(n.own("description").text), HTML: b.html(n.own("description").text),
		Codes:   b.get(n, "headers", "X-Error-Code", "schema", "enum").texts(),
		Fields:  b.fields("", b.get(content, "schema"), nil),
		Example: b.example(content),
	}
}

func firstSentence(markdown string) string {
	sentence, _, more := strings.Cut(strings.ReplaceAll(markdown, "`", ""), ". ")
	if more {
		sentence += "."
	}
	return sentence
}

// example returns the first example of a content, "" when it has none.
func (b *builder) example(content node) string {
	example := content.own("example")
	if all := content.own("examples").members; len(example.raw) == 0 && len(all) > 0 {
		example = b.get(all[0].value, "value")
	}
	if len(example.raw) == 0 {
		return ""
	}
	text, err := example.indented()
	if err != nil {
		b.fail(err)
	}
	return text
}

// fields lists the members of an object and of the objects in it; of alternatives those
// of the first. The schemas that lead to it end a schema that contains itself.
func (b *builder) fields(prefix string, schema node, above []string) (list []Field) {
	schema = b.follow(schema)
	if slices.Contains(above, string(schema.raw)) {
		return nil
	}
	above = append(slices.Clone(above), string(schema.raw))
	if items := schema.own("items"); len(items.raw) > 0 {
		return b.fields(prefix+"[]", items, above)
	}
	if all := schema.own("oneOf").elements; len(all) > 0 {
		return b.fields(prefix, all[0], above)
	}
	required := schema.own("required").texts()
	for _, m := range schema.own("properties").members {
		property := b.follow(m.value)
		name := strings.TrimPrefix(prefix+"."+m.name, ".")
		list = append(list, Field{
			Name: name, Type: b.typeName(property), Required: slices.Contains(required, m.name),
			HTML: b.html(cmp.Or(m.value.own("description").text, property.own("description").text)),
		})
		list = append(list, b.fields(name, property, above)...)
	}
	return list
}

// typeName describes the values that a schema allows, in a few words.
func (b *builder) typeName(schema node) string {
	schema = b.follow(schema)
	if c := schema.own("const"); len(c.raw) > 0 {
		return string(c.raw)
	}
	if enum := schema.own("enum"); len(enum.elements) > 0 {
		var values []string
		for _, e := range enum.elements {
			values = append(values, string(e.raw))
		}
		return strings.Join(values, " or ")
	}
	var types []string
	for _, alternatives := range []string{"oneOf", "anyOf"} {
		for _, s := range schema.own(alternatives).elements {
			types = append(types, b.typeName(s))
		}
	}
	if items := schema.own("items"); len(items.raw) > 0 {
		return "array of " + b.typeName(items)
	}
	types = append(types, schema.own("type").texts()...)
	if len(types) == 0 {
		types = append(types, cmp.Or(schema.own("type").text, "any value"))
	}
	name := strings.Join(types, " or ")
	if format := schema.own("format").text; format != "" {
		name += " (" + format + ")"
	}
	return name
}

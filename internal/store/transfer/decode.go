package transfer

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// decodeLine reads the object of a line strictly: member names match exactly,
// none is unknown or given twice. Its errors are sentences for the person who
// wrote the line.
func decodeLine(raw []byte, into any) error {
	if err := json.Unmarshal(raw, into, json.RejectUnknownMembers(true)); err != nil {
		return notALine(raw, lineError(err))
	}
	return nil
}

// lineTypes are the types of lines, for messages.
const lineTypes = "workspace, key, item, purchase, license_key or license"

// lineType is the member "type" of a line.
func lineType(raw []byte) (string, error) {
	if rest, ok := bytes.CutPrefix(raw, []byte(`{"type":"`)); ok {
		if name, _, ok := bytes.Cut(rest, []byte(`"`)); ok {
			return string(name), nil
		}
	}
	var head struct {
		Type *string `json:"type"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return "", notALine(raw, lineError(err))
	}
	if head.Type == nil {
		return "", errors.New(`the member "type" is missing; it is ` + lineTypes)
	}
	return *head.Type, nil
}

// notALine adds to an error what other forms of JSON have to become.
func notALine(raw []byte, err error) error {
	switch {
	case bytes.HasPrefix(raw, []byte("[")), bytes.Equal(raw, []byte("]")):
		return errors.New("this is an array of JSON; write one object on each line, without brackets around them and commas between them")
	case bytes.Equal(raw, []byte("{")), bytes.Equal(raw, []byte("}")):
		return errors.New("an object is on several lines; write each object on one line")
	case bytes.HasSuffix(raw, []byte("},")):
		return fmt.Errorf("%w; write one object on each line, without commas between them", err)
	}
	return err
}

func lineError(err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return fmt.Errorf("the member %q occurs twice", memberName(syntax.JSONPointer))
		}
		return fmt.Errorf("not one JSON object: %v", syntax.Err)
	}
	var semantic *json.SemanticError
	if !errors.As(err, &semantic) {
		return err
	}
	name := memberName(semantic.JSONPointer)
	switch {
	case errors.Is(err, json.ErrUnknownName):
		return fmt.Errorf("unknown member %q", name)
	case name == "" && semantic.JSONKind != '{':
		return errors.New("expected one JSON object")
	case errors.Is(err, strconv.ErrSyntax):
		return fmt.Errorf("%s: expected a whole number", name)
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%s: the number is too large", name)
	case semantic.Err != nil:
		reason, _, _ := strings.Cut(semantic.Err.Error(), ": json: ") // what follows speaks of Go
		return fmt.Errorf("%s: %s", name, reason)
	}
	return fmt.Errorf("%s: unexpected JSON %v", name, semantic.JSONKind)
}

// memberName turns the pointer /price/regular into price.regular.
func memberName(p jsontext.Pointer) string {
	return strings.ReplaceAll(strings.TrimPrefix(string(p), "/"), "/", ".")
}

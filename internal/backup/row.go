package backup

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// appendRow appends the line of a row: a JSON array of its values. Bytes are an object with base64
// in its member b, and so is a text that is not UTF-8, in t.
func appendRow(line []byte, values []any) ([]byte, error) {
	line = append(line, '[')
	for i, v := range values {
		if i > 0 {
			line = append(line, ',')
		}
		switch v := v.(type) {
		case nil:
			line = append(line, "null"...)
		case bool:
			line = strconv.AppendBool(line, v)
		case int64:
			line = strconv.AppendInt(line, v, 10)
		case string:
			line = appendText(line, v)
		case []byte:
			line = appendBytes(line, "b", v)
		default:
			return nil, fmt.Errorf("backup: a row holds a value of type %T", v)
		}
	}
	return append(line, ']', '\n'), nil
}

func appendText(line []byte, text string) []byte {
	plain := true
	for i := range len(text) {
		plain = plain && text[i] >= ' ' && text[i] < utf8.RuneSelf && text[i] != '"' && text[i] != '\\'
	}
	switch {
	case plain:
		return append(append(append(line, '"'), text...), '"')
	case !utf8.ValidString(text):
		return appendBytes(line, "t", []byte(text))
	}
	quoted, _ := json.Marshal(text) // a string has no error
	return append(line, quoted...)
}

func appendBytes(line []byte, member string, value []byte) []byte {
	line = append(line, `{"`+member+`":"`...)
	line = base64.StdEncoding.AppendEncode(line, value)
	return append(line, `"}`...)
}

// readRow reads the next line of rows into values, which it returns.
func readRow(from *json.Decoder, values []any) ([]any, error) {
	values = values[:0]
	if err := from.Decode(&values); err != nil {
		return nil, err
	}
	if values == nil {
		return nil, fmt.Errorf("a row is not an array")
	}
	for i, v := range values {
		var err error
		switch v := v.(type) {
		case json.Number:
			values[i], err = strconv.ParseInt(string(v), 10, 64)
		case map[string]any:
			values[i], err = readBytes(v)
		case []any:
			err = fmt.Errorf("a value is an array")
		}
		if err != nil {
			return nil, err
		}
	}
	return values, nil
}

func readBytes(object map[string]any) (any, error) {
	for _, member := range []string{"b", "t"} {
		text, ok := object[member].(string)
		if !ok || len(object) != 1 {
			continue
		}
		value, err := base64.StdEncoding.Strict().DecodeString(text)
		if member == "t" {
			return string(value), err
		}
		return value, err
	}
	return nil, fmt.Errorf("a value is an object without base64")
}

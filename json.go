package countersign

import (
	"bytes"
	"encoding/json"
)

// EncodeJSON encodes v as encoding/json does, but leaves <, > and & as they are, so that URLs stay readable. There is
// no insignificant white space and no newline at the end.
func EncodeJSON(v any) ([]byte, error) {
	return AppendJSON(nil, v)
}

// AppendJSON appends what [EncodeJSON] makes of v to b. On an error it returns b as it was.
func AppendJSON(b []byte, v any) ([]byte, error) {
	buf := bytes.NewBuffer(b)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return b, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

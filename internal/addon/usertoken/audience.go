package usertoken

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// audience is the claim aud: a string, or a list with it alone, as some libraries print it
// (RFC 7519, 4.1.3).
type audience string

// UnmarshalJSONFrom reads a string or a list of one string.
func (a *audience) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != jsontext.KindBeginArray {
		return json.UnmarshalDecode(d, (*string)(a))
	}
	var list []string
	if err := json.UnmarshalDecode(d, &list); err != nil {
		return err
	}
	if len(list) == 1 {
		*a = audience(list[0])
	}
	return nil
}

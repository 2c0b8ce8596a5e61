package countersign

import (
	"encoding/json"
	"fmt"
)

// Version is an item's dotted version, for example "1.2.3" (spec 2, conventions). It is printed as a JSON string.
type Version string

// UnmarshalJSON reads a JSON string, or a number, of which it keeps the text ("version": 1.10 is "1.10"). A null
// changes nothing. A bare 1.2.3 is not JSON; [Client] mends it before it decodes.
func (v *Version) UnmarshalJSON(b []byte) error {
	switch c := b[0]; {
	case c == 'n':
		return nil
	case c == '"':
		return json.Unmarshal(b, (*string)(v))
	case c == '-' || c >= '0' && c <= '9':
		*v = Version(b)
		return nil
	default:
		return fmt.Errorf("a version is a string, not %s", b)
	}
}

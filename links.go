package countersign

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Links maps the name of a network, for example "facebook", to a URL (spec 2.2). It prints as {} when it is nil.
type Links map[string]string

// MarshalJSON prints a JSON object, its members sorted by name.
func (l Links) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("{}"), nil
	}
	return EncodeJSON(map[string]string(l))
}

// UnmarshalJSON reads a JSON object, or the empty array that some stores print for an empty map. A link that is null
// counts as absent.
func (l *Links) UnmarshalJSON(b []byte) error {
	if b[0] == '[' {
		var none []struct{}
		if json.Unmarshal(b, &none) != nil || len(none) > 0 {
			return errors.New("links are an object, not an array")
		}
		*l = Links{}
		return nil
	}
	var links map[string]*string
	if err := json.Unmarshal(b, &links); err != nil {
		return fmt.Errorf("links: %w", err)
	}
	if links == nil {
		*l = nil
		return nil
	}
	*l = make(Links, len(links))
	for network, link := range links {
		if link != nil {
			(*l)[network] = *link
		}
	}
	return nil
}

package countersign

// List is an array of strings that prints as [] when it is nil, never as null.
type List []string

// MarshalJSON prints a JSON array.
func (l List) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("[]"), nil
	}
	return EncodeJSON([]string(l))
}

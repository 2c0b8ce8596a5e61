package requests

import "strings"

// Place is where in a request a parameter stood.
type Place byte

// The places.
const (
	InAuthorization Place = 'a' // the header Authorization
	InHeader        Place = 'h' // the header X-Api-Key
	InQuery         Place = 'q'
	InBody          Place = 'b'
)

// String names a place.
func (p Place) String() string {
	switch p {
	case InAuthorization:
		return "Authorization"
	case InHeader:
		return "X-Api-Key"
	case InQuery:
		return "query"
	case InBody:
		return "body"
	}
	return ""
}

// Param is a parameter of a call, with its value masked.
type Param struct {
	Place Place
	Name  string
	Value string // masked; empty for a key
}

// sentBytes is how many bytes the parameters of a call have.
const sentBytes = 128

// Sent is the parameters of a call, each as a line: its place, its name, and its masked
// value. It has a fixed size, so that noting them costs no memory.
type Sent struct {
	text [sentBytes]byte
	n    uint8
}

// The parameters that are not masked like a code.
const (
	paramKey  = "api_key"
	paramItem = "item_id"
)

// maxItemDigits is how long an item's id may be to be shown.
const maxItemDigits = 12

// Add notes a parameter that the endpoint knows, with its value as sent. One that has no
// room any more is left out.
func (s *Sent) Add(place Place, name, value string) {
	var masked [maskBytes]byte
	text := masked[:0]
	if name != paramKey {
		text = appendMasked(text, name, value)
	}
	need := len(name) + 2
	if len(text) > 0 {
		need += 1 + len(text)
	}
	if int(s.n)+need > sentBytes {
		return
	}
	line := append(s.text[:s.n], byte(place))
	line = append(line, name...)
	if len(text) > 0 {
		line = append(append(line, '='), text...)
	}
	s.n = uint8(len(append(line, '\n')))
}

// String returns the lines.
func (s *Sent) String() string { return string(s.text[:s.n]) }

const (
	ellipsis = "…"
	// maskBytes is the length of a masked value at most.
	maskBytes = 16
)

// appendMasked appends what may be shown of a value: of a long one, like most purchase codes,
// both ends, of an item's id all, of any other nothing.
func appendMasked(to []byte, name, value string) []byte {
	value = strings.TrimSpace(value)
	switch {
	case value == "":
		return to
	case name == paramItem && len(value) <= maxItemDigits && strings.Trim(value, "0123456789") == "":
		return append(to, value...)
	case len(value) < 16 || !plain(value):
		return append(to, ellipsis...)
	}
	to = append(to, value[:4]...)
	to = append(to, ellipsis...)
	return append(to, value[len(value)-2:]...)
}

func plain(text string) bool {
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// ParseSent reads the lines of [Sent]. Lines that are not of its form are left out.
func ParseSent(text string) []Param {
	var list []Param
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || Place(line[0]).String() == "" {
			continue
		}
		name, value, _ := strings.Cut(line[1:], "=")
		list = append(list, Param{Place(line[0]), name, value})
	}
	return list
}

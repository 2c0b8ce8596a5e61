package requests

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/countersign/countersign/internal/requestid"
)

// Entry is one call, as the front end knows it when it was answered. Unknown ids are 0.
type Entry struct {
	Number    requestid.Number
	Workspace int64 // of the key
	Key       int64
	Item      int64
	Purchase  int64
	Endpoint  string
	Method    string
	Status    int
	Reason    string // the error's code, empty for a valid call
	Took      time.Duration
	Addr      netip.Addr
	Agent     string
	Sent      Sent
}

// maxAgent is how many bytes of a client's name are kept.
const maxAgent = 64

// ShortAgent returns the beginning of a client's name. What it returns does not keep the
// rest in memory.
func ShortAgent(agent string) string {
	if len(agent) <= maxAgent {
		return agent
	}
	return strings.Clone(agent[:maxAgent])
}

// row sets r to the row of an entry. Texts that are copied are appended to scratch, which it returns.
func (e *Entry) row(r *row, scratch []byte) []byte {
	r.numbers = [...]int64{int64(e.Number), e.Workspace, e.Key, e.Item, e.Purchase, int64(e.Status), e.Took.Microseconds()}
	text := func(column int, s string) {
		from := len(scratch)
		scratch = append(scratch, s...)
		r.texts[column] = scratch[from:]
	}
	text(columnEndpoint, e.Endpoint)
	text(columnMethod, e.Method)
	text(columnReason, e.Reason)
	text(columnAgent, cleanAgent(e.Agent))
	from := len(scratch)
	scratch, _ = e.Addr.AppendBinary(scratch) // it has no error
	r.texts[columnAddress] = scratch[from:]
	r.texts[columnSent] = e.Sent.text[:e.Sent.n]
	return scratch
}

// addEntries adds calls in any order.
func (w *encoder) addEntries(entries []Entry) {
	order := make([]*Entry, len(entries))
	for i := range entries {
		order[i] = &entries[i]
	}
	slices.SortFunc(order, func(a, b *Entry) int { return cmp.Compare(a.Number, b.Number) })
	var r row
	var scratch []byte
	for _, e := range order {
		scratch = e.row(&r, scratch[:0])
		w.add(&r)
	}
}

// cleanAgent returns a client's name as one line that both engines store, without anything
// that looks like a key or a purchase code.
func cleanAgent(agent string) string {
	for _, prefix := range []string{"csk_", "csp_"} {
		if i := strings.Index(agent, prefix); i >= 0 {
			agent = agent[:i+len(prefix)] + "…"
		}
	}
	agent = maskTokens(agent)
	for i := range len(agent) {
		if c := agent[i]; c < ' ' || c > '~' {
			return strings.Map(printable, agent)
		}
	}
	return agent
}

// The lengths from which a word may be a secret: with digits, and without any.
const (
	longToken = 16
	longWord  = 32
)

// maskTokens leaves of long words, as purchase codes are, the ends that are shown of codes. Names
// and versions stay.
func maskTokens(text string) string {
	start, digits := 0, false
	for i := 0; i <= len(text); i++ {
		switch {
		case i < len(text) && '0' <= text[i] && text[i] <= '9':
			digits = true
		case i < len(text) && isWord(text[i]):
		default:
			if n := i - start; n >= longWord || n >= longToken && digits {
				masked := appendMasked(nil, "", text[start:i])
				text = text[:start] + string(masked) + text[i:]
				i = start + len(masked)
			}
			start, digits = i+1, false
		}
	}
	return text
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-' || c == '_'
}

func printable(r rune) rune {
	if unicode.IsPrint(r) && r != unicode.ReplacementChar {
		return r
	}
	return -1
}

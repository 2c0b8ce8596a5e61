package limit

import (
	"encoding/hex"
	"strings"
	"time"
)

// Texts limits events by text, with the same limit for each. Like [Guesses], it can exchange its counts with those of
// other servers. It is safe for concurrent use.
type Texts struct {
	kind   string
	limit  int
	window *Window[Name]
	name   func(text string) Name
}

// NewTexts allows each text limit events in windows of a length. kind is a word that distinguishes its counts from others
// that are exchanged, and name returns the name of a text ([Options]); now is its clock.
func NewTexts(kind string, limit int, length time.Duration, name func(text string) Name, now func() time.Time) *Texts {
	return &Texts{kind, limit, NewWindow[Name](length, now), name}
}

// Hold is [Window.Hold]. Over the limit, end is nil and wait is how long it lasts.
func (t *Texts) Hold(text string) (end func(happened bool), wait time.Duration) {
	name := t.name(t.kind + " " + text)
	end, ok := t.window.Hold(name, t.limit)
	if !ok {
		return nil, max(t.window.Retry(name), 1)
	}
	return end, 0
}

// Allows is [Window.Allows].
func (t *Texts) Allows(text string) bool {
	return t.window.Allows(t.name(t.kind+" "+text), t.limit)
}

// Take is [Window.Take].
func (t *Texts) Take(text string) bool {
	return t.window.Take(t.name(t.kind+" "+text), t.limit)
}

// worthOfTexts is how large a part of a limit is worth telling the other servers.
const worthOfTexts = 5

// Unsent is [Guesses.Unsent].
func (t *Texts) Unsent(all bool, most int) (list []Count) {
	worth := t.limit / worthOfTexts
	if all {
		worth = 1
	}
	for _, one := range t.window.unsent(worth, most) {
		list = append(list, Count{t.kind + " " + hex.EncodeToString(one.key[:]), one.n, one.ends})
	}
	return list
}

// parse returns the name in that of a count, if it is one of these texts.
func (t *Texts) parse(count string) (name Name, ok bool) {
	digits, ok := strings.CutPrefix(count, t.kind+" ")
	if !ok {
		return name, false
	}
	return parseName(digits)
}

// Sent is [Guesses.Sent].
func (t *Texts) Sent(list []Count) {
	for _, c := range list {
		if name, ok := t.parse(c.Name); ok {
			t.window.sent(name, c.N)
		}
	}
}

// Merge is [Guesses.Merge].
func (t *Texts) Merge(list []Count) {
	for _, c := range list {
		if name, ok := t.parse(c.Name); ok {
			t.window.merge(tally[Name]{name, c.N, c.Ends})
		}
	}
}

// SetServers is [Guesses.SetServers].
func (t *Texts) SetServers(n int) { t.window.servers.Store(int64(n)) }

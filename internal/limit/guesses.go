package limit

import (
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"strings"
	"time"
)

// codeLimit is how many requests a purchase code has an hour, valid or not, for each thing that is asked of it.
const codeLimit = 60

// Name stands for a text that is counted, where the text itself must not be kept or written.
type Name [16]byte

// Options sets the limits of [Guesses].
type Options struct {
	// Failures is how many failures each client has a minute; 0 switches all limits off, for purchase codes too.
	Failures int
	// Name returns the name of a text that is counted, and false for one that is not counted now. Servers that exchange
	// counts need the same one. It should be keyed: names are written to the database. nil means SHA-256, unkeyed.
	Name func(text string) (Name, bool)
	// Now is the clock, and nil means time.Now.
	Now func() time.Time
}

// Guesses limits those who guess credentials: it counts the failures of each client in a minute, and the requests for
// each purchase code in an hour. The front ends of one service share one, so that none is a way around the others.
// It is safe for concurrent use.
type Guesses struct {
	*Limiter
	codes     *Window[Name]
	codeLimit int // 0 means no limit
	name      func(text string) (Name, bool)
}

// NewGuesses returns one that has counted nothing.
func NewGuesses(o Options) *Guesses {
	g := &Guesses{Limiter: NewLimiter(o.Failures, o.Now), codes: NewWindow[Name](time.Hour, o.Now), name: o.Name}
	if o.Failures > 0 {
		g.codeLimit = codeLimit
	}
	if g.name == nil {
		g.name = func(text string) (Name, bool) { return PlainName(text), true }
	}
	return g
}

// PlainName is the unkeyed name of a text: whoever reads it can try texts.
func PlainName(text string) (name Name) {
	sum := sha256.Sum256([]byte(text))
	return Name(sum[:len(name)])
}

// TakeCode counts a request for a purchase code, also for an unknown code, because the response must not reveal which
// exist. what names the kind of request; kinds are counted separately. It reports false, and the limit, over the limit.
// An empty code is not counted.
func (g *Guesses) TakeCode(what, code string) (ok bool, refused Refusal) {
	if g.codeLimit == 0 {
		return true, Refusal{}
	}
	code = fold(code)
	if code == "" {
		return true, Refusal{}
	}
	return g.take(what + " " + code)
}

// TakeCheck is TakeCode for license checks, counted separately for each client. A license's id is in every license
// file, so a stranger could otherwise use up its checks.
func (g *Guesses) TakeCheck(client netip.Addr, code, id string) (ok bool, refused Refusal) {
	if g.codeLimit == 0 || code == "" && id == "" {
		return true, Refusal{}
	}
	return g.take("check " + Network(client).String() + " " + fold(code) + " " + fold(id))
}

func (g *Guesses) take(text string) (bool, Refusal) {
	name, ok := g.name(text)
	if !ok || g.codes.Take(name, g.codeLimit) {
		return true, Refusal{}
	}
	return false, refusal(g.codes, name, g.codeLimit)
}

// fold writes a code as it is compared. What is longer than a code can be is cut, after the spaces around it are taken
// away as for the lookup: it belongs to nobody.
func fold(code string) string {
	const longest = 2 * 128
	code = strings.TrimSpace(code)
	return strings.ToLower(code[:min(len(code), longest)])
}

// Count is a number of events within a window, as servers tell each other. Name is a network, or the name of a code.
type Count struct {
	Name string
	N    int
	Ends time.Time
}

// How large a part of a limit is worth telling the other servers: they count together within a factor of two, and
// codes that are asked once are many.
const (
	worthOfFailures = 100
	worthOfCodes    = 10
)

// Unsent lists, most at most, the events that the other servers do not know yet and that are worth telling. With all,
// every one is.
func (g *Guesses) Unsent(all bool, most int) (list []Count) {
	worth := func(limit, part int) int {
		if all {
			return 1
		}
		return limit / part
	}
	for _, t := range g.clients.unsent(worth(g.limit, worthOfFailures), most) {
		if t.key.IsValid() {
			list = append(list, Count{t.key.String(), t.n, t.ends})
		}
	}
	for _, t := range g.sites.unsent(worth(siteFactor*g.limit, worthOfFailures), most-len(list)) {
		list = append(list, Count{t.key.String(), t.n, t.ends})
	}
	for _, t := range g.codes.unsent(worth(g.codeLimit, worthOfCodes), most-len(list)) {
		list = append(list, Count{hex.EncodeToString(t.key[:]), t.n, t.ends})
	}
	return list
}

// Sent notes that what [Guesses.Unsent] listed was told.
func (g *Guesses) Sent(list []Count) {
	for _, c := range list {
		if network, err := netip.ParsePrefix(c.Name); err == nil {
			g.window(network).sent(network, c.N)
		} else if name, ok := parseName(c.Name); ok {
			g.codes.sent(name, c.N)
		}
	}
}

// Merge takes over the counts of all servers together, this one's own among them that were sent.
func (g *Guesses) Merge(list []Count) {
	for _, c := range list {
		if network, err := netip.ParsePrefix(c.Name); err == nil {
			g.window(network).merge(tally[netip.Prefix]{network, c.N, c.Ends})
		} else if name, ok := parseName(c.Name); ok {
			g.codes.merge(tally[Name]{name, c.N, c.Ends})
		}
	}
}

// SetServers sets how many servers exchange their counts, this one included.
func (g *Guesses) SetServers(n int) {
	for _, w := range []*Window[netip.Prefix]{g.clients, g.sites} {
		w.servers.Store(int64(n))
	}
	g.codes.servers.Store(int64(n))
}

// window is the window in which a network is counted.
func (g *Guesses) window(network netip.Prefix) *Window[netip.Prefix] {
	if network.Bits() == siteBits && network.Addr().Is6() {
		return g.sites
	}
	return g.clients
}

func parseName(text string) (name Name, ok bool) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(name) {
		return name, false
	}
	return Name(raw), true
}

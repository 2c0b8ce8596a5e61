package people

import (
	"net/netip"
	"strings"
	"unicode"
)

// Kind describes what sort of actor acts.
type Kind string

// The kinds of actor.
const (
	// KindOperator has access to the data folder, which is the credential of
	// the command line.
	KindOperator Kind = "operator"
	// KindKey is a program that holds an API key.
	KindKey Kind = "key"
	// KindUser is somebody who signed in.
	KindUser Kind = "user"
	// KindVisitor is somebody who did not sign in. Such an actor has no ID and may do
	// nothing.
	KindVisitor Kind = "visitor"
)

// FrontEnd is the front end through which an actor came.
type FrontEnd string

// The front ends.
const (
	FrontEndCommand FrontEnd = "cli"
	FrontEndAPI     FrontEnd = "api"
	FrontEndPage    FrontEnd = "page"
)

// Actor is who asks for something, and from where.
type Actor struct {
	Kind Kind
	// ID names the actor within its kind: a key's id, an operator's login name,
	// a user's e-mail.
	ID       string
	FrontEnd FrontEnd
	// Addr is the client's address, invalid at the command line.
	Addr netip.Addr
	// User is the id of a user, and Administrator whether the user may do everything.
	User          int64
	Administrator bool
	// Workspace is the id of a key's workspace. A buyer who has one reaches the
	// purchases of that workspace alone.
	Workspace int64
	// Secret distinguishes a key that opens all of its workspace from a publishable one,
	// which opens Item alone.
	Secret bool
	Item   int64
}

// Operator is the actor of the command line.
func Operator(login string) Actor {
	return Actor{Kind: KindOperator, ID: login, FrontEnd: FrontEndCommand}
}

// Origin is where a request of somebody who may not have signed in yet comes
// from.
type Origin struct {
	Addr netip.Addr
	// Agent is the browser's own name, as it was sent.
	Agent string
	// Known is what [People.RememberBrowser] gave the browser to keep, "" for nothing.
	Known string
}

// maxAgent is how many characters of a browser's name are kept.
const maxAgent = 200

// agent is the browser's name as it is kept: one line that both engines store.
func (o Origin) agent() string {
	clean := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			return r
		}
		return -1
	}, o.Agent)
	characters := []rune(clean)
	return string(characters[:min(len(characters), maxAgent)])
}

func (o Origin) address() string { return addressText(o.Addr) }

// addressText is an address as the database holds it, "" for none.
func addressText(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}

// KindBuyer is somebody who holds a purchase code, which is the credential.
const KindBuyer Kind = "buyer"

// Buyer is the actor behind a purchase code that came from an address.
func Buyer(frontEnd FrontEnd, from netip.Addr) Actor {
	return Actor{Kind: KindBuyer, FrontEnd: frontEnd, Addr: from}
}

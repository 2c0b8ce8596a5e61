// Package people knows who acts: the operator at the command line, a program
// with an API key. Rules that are not public take an Actor and write down what
// it did.
package people

import "net/netip"

// Kind says what sort of actor acts.
type Kind string

// The kinds of actor.
const (
	// KindOperator has access to the data folder, which is the credential of
	// the command line.
	KindOperator Kind = "operator"
	// KindKey is a program that holds an API key.
	KindKey Kind = "key"
)

// Face says through which door an actor came.
type Face string

// The faces.
const (
	FaceCommand Face = "cli"
	FaceAPI     Face = "api"
)

// Actor is who asks for something, and from where.
type Actor struct {
	Kind Kind
	// ID names the actor within its kind: a key's id, an operator's login name.
	ID   string
	Face Face
	// Addr is the client's address, invalid at the command line.
	Addr netip.Addr
	// Workspace is the id of a key's workspace.
	Workspace int64
	// Secret tells a key that opens all of its workspace from a publishable one,
	// which opens Item alone.
	Secret bool
	Item   int64
}

// Operator is the actor of the command line.
func Operator(login string) Actor {
	return Actor{Kind: KindOperator, ID: login, Face: FaceCommand}
}

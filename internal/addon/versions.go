package addon

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/people"
)

// Version is a state of the settings that was published.
type Version struct {
	Number int64
	At     time.Time
	// ActorKind, Actor and Face say who published it, and through which door.
	ActorKind people.Kind
	Actor     string
	Face      people.Face
	Note      string
	// Restored is the version that was brought back, 0 for none.
	Restored int64
}

// Change is a setting whose value differs between two states. Of a secret, the
// values are sentences about it.
type Change struct {
	Key, Label    string
	Before, After string
	// Added and Removed tell of keys that only one of the states has.
	Added, Removed bool
}

// Severity tells what stops a publish from what it only ought to know.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Problem is something about the draft as a whole.
type Problem struct {
	Severity Severity
	// Key is the setting it is about, "" for none.
	Key  string
	Text string
}

// Publication is the result of a publish.
type Publication struct {
	// Version is what is served now.
	Version Version
	// Nothing tells that the draft was already what is served; no version was
	// made.
	Nothing bool
	Changes []Change
	// Warnings are the problems that did not stop it.
	Warnings []Problem
}

// Diff lists what the next publish would change.
func (a *Addon) Diff(ctx context.Context, actor people.Actor) ([]Change, error) {
	return nil, errNotBuilt
}

// Problems lists what is wrong with the draft as a whole, errors first.
func (a *Addon) Problems(ctx context.Context, actor people.Actor) ([]Problem, error) {
	return nil, errNotBuilt
}

// Publish makes the draft the version that is served. Errors:
//
//   - kind Invalid, code settings_invalid: the draft has problems that are errors;
//     Fields names them by key;
//   - kind Precondition, code settings_changed: the draft is not the one of the
//     revision that the caller has seen; 0 is "whatever it is".
func (a *Addon) Publish(ctx context.Context, actor people.Actor, revision int64, note string) (Publication, error) {
	return Publication{}, errNotBuilt
}

// Versions lists versions before a number, newest first, at most limit (50 when
// it is 0); before is 0 for the newest.
func (a *Addon) Versions(ctx context.Context, actor people.Actor, before int64, limit int) ([]Version, error) {
	return nil, errNotBuilt
}

// VersionDetail is a version with its values.
type VersionDetail struct {
	Version
	// List holds the settings of the version; Value and Published are the same.
	List []Setting
	// Changes is what it changed against the version before it.
	Changes []Change
	// Back is what bringing it back would change against what is served now.
	Back []Change
	// Body is the public settings as the apps received them.
	Body []byte
}

// Version reads one. Its error is of kind NotFound.
func (a *Addon) Version(ctx context.Context, actor people.Actor, number int64) (VersionDetail, error) {
	return VersionDetail{}, errNotBuilt
}

// Rollback publishes the values of an earlier version again, as a new version.
// Changes that wait in the draft go on waiting there.
func (a *Addon) Rollback(ctx context.Context, actor people.Actor, number int64, note string) (Publication, error) {
	return Publication{}, errNotBuilt
}

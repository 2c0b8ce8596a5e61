package settings

import (
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/people"
)

// Version is a state of the settings that was published.
type Version struct {
	Number int64
	At     time.Time
	// ActorKind, Actor and FrontEnd say who published it, and through which front end.
	ActorKind people.Kind
	Actor     string
	FrontEnd  people.FrontEnd
	Note      string
	// Restored is the version that was brought back, 0 for none.
	Restored int64
}

func versionOf(v addondb.Version) Version {
	return Version{
		Number: v.Number, At: v.PublishedAt.Time, ActorKind: people.Kind(v.ActorKind), Actor: v.Actor, FrontEnd: people.FrontEnd(v.FrontEnd),
		Note: v.Note, Restored: v.Restored,
	}
}

// Change is a setting whose value differs between two states. Of a secret, the
// values are sentences about it.
type Change struct {
	Key    string `json:"key"`
	Label  string `json:"label"`
	Before string `json:"before"`
	After  string `json:"after"`
	// Added and Removed mark keys that only one of the states has.
	Added   bool `json:"added"`
	Removed bool `json:"removed"`
}

package keyfile

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/sqldb"
)

// Topic is the topic of the change that [Location.Rekey] makes.
const Topic = "key_file"

// ErrReplaced means that the database belongs to another key file than the one that this
// process has read; it is of kind Conflict.
var ErrReplaced error = fault.Conflict("key_replaced", "The key file of this database was replaced after this program had read it; "+
	"start it again, with the new key file in its data folder")

// Current holds the key file that a process has read, and finds out when the database belongs
// to another one. The zero value holds none. Its methods may be called from many goroutines.
type Current struct {
	box      atomic.Pointer[Box]
	outdated atomic.Bool
	db       *sqldb.DB
	changed  chan struct{} // told when the database may belong to another key file
}

// Open takes a key file that belongs to the database, also after another one was outdated.
func (c *Current) Open(box *Box) {
	c.box.Store(box)
	c.outdated.Store(false)
}

// Outdated notes that the database belongs to another key file.
func (c *Current) Outdated() { c.outdated.Store(true) }

// Box returns the key file, nil before [Current.Open].
func (c *Current) Box() *Box { return c.box.Load() }

// InForce reports whether there is a key file and the database is not known to belong to another.
func (c *Current) InForce() bool { return c.box.Load() != nil && !c.outdated.Load() }

// Watch has the database report a new key file to [Current.Follow]. Call it before the feed of
// changes runs.
func (c *Current) Watch(db *sqldb.DB) {
	c.db, c.changed = db, make(chan struct{}, 1)
	db.Watch(sqldb.Watcher{Lost: func() {}, Live: c.check, Changed: func(topic, _ string) {
		if topic == Topic {
			c.Outdated()
			c.check()
		}
	}})
}

// check wakes Follow, also after changes may have been missed.
func (c *Current) check() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// Follow returns [ErrReplaced] when the database belongs to another key file, and nil when
// ctx ends.
func (c *Current) Follow(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.changed:
		}
		check, err := c.db.Queries().Meta(ctx, CheckName)
		for ; err != nil; check, err = c.db.Queries().Meta(ctx, CheckName) {
			if !group.Sleep(ctx, time.Second, nil) {
				return nil
			}
		}
		if !c.Box().Matches(check) {
			c.Outdated()
			return ErrReplaced
		}
	}
}

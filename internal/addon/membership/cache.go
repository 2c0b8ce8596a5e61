package membership

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/cached"
	"github.com/countersign/countersign/internal/prepared"
	"github.com/countersign/countersign/internal/sqldb"
)

const (
	// cacheBytes is how much memory cached memberships use at most.
	cacheBytes = 16 << 20
	// entryBytes is about what one of them uses.
	entryBytes = 2 << 10
)

// cache keeps memberships as apps read them, by user.
type cache struct {
	cached.Map[string, *Read]
}

// Watcher drops cached memberships that change. It has to be added to the database.
func (s *Service) Watcher() sqldb.Watcher {
	return sqldb.Watcher{Changed: s.cache.changed, Lost: s.cache.Lost, Live: s.cache.Live}
}

// changed drops the membership of a user, or with a change of packages, whose names are
// printed, all of them.
func (c *cache) changed(topic, ref string) {
	switch {
	case topic == addondb.TopicMemberships && ref != "":
		c.Drop(ref)
	case topic == addondb.TopicMemberships, topic == addondb.TopicServed:
		c.DropAll()
	}
}

// cachedMembership returns the cached membership of a user, or reads it with one query.
func (s *Service) cachedMembership(ctx context.Context, user string) (*Read, error) {
	read, found, since := s.cache.Find(user)
	if found {
		return read, nil
	}
	return s.cache.Share(ctx, user, since, func(ctx context.Context) (*Read, error) {
		m, err := membershipOf(ctx, s.db, user)
		if err != nil {
			return nil, err
		}
		read, err := newRead(m)
		if err == nil {
			s.cache.Store(user, read, since)
		}
		return read, err
	})
}

// newRead prints a membership.
func newRead(m addondb.Membership) (*Read, error) {
	sum := sha256.Sum256([]byte(m.UserID + "\x00" + m.PackageName))
	read := &Read{Membership: printMembership(m), ETag: fmt.Sprintf("%d-%x", m.Version, sum[:8])}
	text, err := countersign.EncodeJSON(read.Membership)
	read.Answer = prepared.Tagged(prepared.Success("membership", string(text)), read.ETag)
	return read, err
}

package settings

import (
	"context"
	"errors"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/people"
)

// Published is the version that apps are served, and its public settings as JSON. It is
// immutable.
type Published struct {
	Version int64
	At      time.Time
	JSON    []byte
}

// Published returns what apps are served: from the cache, or from the database while
// there is none. Before the first update it is an error of kind Unavailable with the
// code update_needed.
func (s *Service) Published(ctx context.Context) (*Published, error) {
	if s.published.Cached() == nil && !s.access.Installed() {
		return nil, s.access.Ready()
	}
	return s.published.Get(ctx)
}

// serveNow caches what was just published, for apps and for pages. When that fails, the
// next request reads it.
func (s *Service) serveNow(ctx context.Context) {
	_, errSettings := s.Published(ctx)
	_, errIAP := s.iap.Published(ctx)
	if err := errors.Join(errSettings, errIAP); err != nil && ctx.Err() == nil {
		s.log.Warn("reading the published settings failed", "cause", err)
	}
}

func (s *Service) readPublished(ctx context.Context) (*Published, error) {
	last, err := s.db.LastVersion(ctx)
	return &Published{last.Number, last.PublishedAt.Time, []byte(last.Body)}, err
}

// Preview is the public settings that apps would be served if the draft were published.
func (s *Service) Preview(ctx context.Context, actor people.Actor) ([]byte, error) {
	if err := s.access.May(actor, access.ManageSettings); err != nil {
		return nil, err
	}
	rows, err := s.db.Settings(ctx)
	return publicBody(valuesOf(rows)), err
}

// publicBody prints the public settings as a flat object: the keys of spec 2.5 in
// its order, then the owner's own by name.
func publicBody(v values) []byte {
	body := []byte{'{'}
	for _, d := range described(v) {
		if !d.Public {
			continue
		}
		if len(body) > 1 {
			body = append(body, ',')
		}
		body, _ = countersign.AppendJSON(body, d.Key) // a string always can be
		body = append(body, ':')
		body = appendValue(body, d.Type, v[d.Key].Value)
	}
	return append(body, '}')
}

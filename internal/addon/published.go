package addon

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/people"
)

// Body is a public JSON answer, made once: its bytes, its compressed bytes and
// the strong ETag of each, quoted. It is immutable.
type Body struct {
	JSON     []byte
	ETag     string
	Gzip     []byte
	GzipETag string
}

// Published is what apps are served.
type Published struct {
	// Settings is the answer of app/settings, IAP that of iap/config (spec 2.7).
	Settings, IAP Body
	Version       int64
	At            time.Time
}

// Published gives what apps are served: from memory, and from the database while
// memory can't be trusted. Before the first update it is an error of kind
// Unavailable with the code update_needed.
func (a *Addon) Published(ctx context.Context) (*Published, error) { return nil, errNotBuilt }

// Preview is what apps would be served if the draft were published.
func (a *Addon) Preview(ctx context.Context, actor people.Actor) (settings, iap []byte, err error) {
	return nil, nil, errNotBuilt
}

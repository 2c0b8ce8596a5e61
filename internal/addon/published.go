package addon

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addondb"
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

func newBody(text []byte) Body {
	sum := sha256.Sum256(text)
	tag := base64.RawURLEncoding.EncodeToString(sum[:16])
	var small bytes.Buffer
	z, _ := gzip.NewWriterLevel(&small, gzip.BestCompression) // the level is valid
	_, _ = z.Write(text)                                      // a buffer takes everything
	_ = z.Close()
	return Body{JSON: text, ETag: `"` + tag + `"`, Gzip: small.Bytes(), GzipETag: `"` + tag + `-gzip"`}
}

// Published returns what apps are served: from the cache, or from the database while
// there is none. Before the first update it is an error of kind
// Unavailable with the code update_needed.
func (a *Addon) Published(ctx context.Context) (*Published, error) {
	if a.published.Cached() == nil && !a.Installed() {
		return nil, a.ready()
	}
	return a.published.Get(ctx)
}

// serveNow caches what was just published. When that fails, the next request reads it.
func (a *Addon) serveNow(ctx context.Context) {
	if _, err := a.Published(ctx); err != nil && ctx.Err() == nil {
		a.log.Warn("what was published could not be read back yet", "cause", err)
	}
}

func (a *Addon) readPublished(ctx context.Context) (*Published, error) {
	var p *Published
	err := a.db.Snapshot(ctx, func(tx *addondb.DB) error {
		last, err1 := tx.LastVersion(ctx)
		packages, err2 := tx.Packages(ctx)
		accounts, err3 := readAccounts(ctx, tx)
		if err := errors.Join(err1, err2, err3); err != nil {
			return err
		}
		view, err := countersign.EncodeJSON(a.iapConfig(valuesOf(last.Settings.V), packages, accounts))
		p = &Published{
			Settings: newBody([]byte(last.Body)), IAP: newBody(view), Version: last.Number, At: last.PublishedAt.Time,
		}
		return err
	})
	return p, err
}

// Preview is what apps would be served if the draft were published.
func (a *Addon) Preview(ctx context.Context, actor people.Actor) (settings, iap []byte, err error) {
	if err := a.mayNow(actor, manageSettings); err != nil {
		return nil, nil, err
	}
	err = a.db.Snapshot(ctx, func(tx *addondb.DB) error {
		rows, err1 := tx.Settings(ctx)
		packages, err2 := tx.Packages(ctx)
		accounts, err3 := readAccounts(ctx, tx)
		if err := errors.Join(err1, err2, err3); err != nil {
			return err
		}
		draft := valuesOf(rows)
		settings = publicBody(draft)
		iap, err = countersign.EncodeJSON(a.iapConfig(draft, packages, accounts))
		return err
	})
	return settings, iap, err
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

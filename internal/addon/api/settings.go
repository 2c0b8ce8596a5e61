package api

import (
	"net/http"
	"time"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/web"
)

// keptFor is how long an app may go on with the public answers that it has.
const keptFor = time.Minute

// onePacket is the size in bytes up to which an answer fits one packet together
// with its header; compressing it would save nobody anything.
const onePacket = 1 << 10

// served is the public answers of one publication, ready to be sent.
type served struct {
	of            *addon.Published
	settings, iap *web.Prepared
}

// getSettings answers GET /api-addons/app/settings (spec 2.5, 4.5).
func (f *face) getSettings(w http.ResponseWriter, r *http.Request) error {
	return f.serve(w, r, addon.AddressSettings, func(s *served) *web.Prepared { return s.settings })
}

// serve answers what anybody may read, programs in other sites' pages too. It
// looks at no header but those of caching and content coding.
func (f *face) serve(w http.ResponseWriter, r *http.Request, of addon.Address, which func(*served) *web.Prepared) error {
	w.Header()["Access-Control-Allow-Origin"] = anySite
	p, err := f.addon.Published(r.Context())
	if err != nil {
		return fault.Public(err)
	}
	s := f.served.Load()
	if s == nil || s.of != p {
		s = &served{of: p, settings: prepare(p.Settings), iap: prepare(p.IAP)}
		f.served.Store(s)
	}
	if r.Method == http.MethodGet {
		f.addon.NoteRequest(of)
	}
	return which(s).Serve(w, r)
}

func prepare(b addon.Body) *web.Prepared {
	var gzipped web.Form
	if len(b.JSON) > onePacket {
		gzipped = web.Form{Body: b.Gzip, ETag: b.GzipETag}
	}
	return web.PreparePublic(web.Form{Body: b.JSON, ETag: b.ETag}, gzipped, keptFor)
}

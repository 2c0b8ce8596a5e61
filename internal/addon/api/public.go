package api

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/prepared"
	"github.com/countersign/countersign/internal/web"
)

// keptFor is how long an app may go on with the public answers that it has.
const keptFor = time.Minute

// onePacket is the size in bytes up to which an answer fits one packet together
// with its header; compressing it would save nobody anything.
const onePacket = 1 << 10

// public is the response at a public address, prepared once for each publication.
type public struct{ last atomic.Pointer[publicText] }

type publicText struct {
	text     []byte
	response *prepared.Response
}

// of returns the response with a cached text, which never changes.
func (p *public) of(text []byte) *prepared.Response {
	last := p.last.Load()
	if last == nil || &last.text[0] != &text[0] {
		last = &publicText{text, prepare(text)}
		p.last.Store(last)
	}
	return last.response
}

func prepare(text []byte) *prepared.Response {
	sum := sha256.Sum256(text)
	tag := base64.RawURLEncoding.EncodeToString(sum[:16])
	var gzipped web.Form
	if len(text) > onePacket {
		gzipped = web.Form{Body: compress(text), ETag: `"` + tag + `-gzip"`}
	}
	return web.PreparePublic(web.Form{Body: text, ETag: `"` + tag + `"`}, gzipped, keptFor)
}

func compress(text []byte) []byte {
	var small bytes.Buffer
	z, _ := gzip.NewWriterLevel(&small, gzip.BestCompression) // the level is valid
	_, _ = z.Write(text)                                      // a buffer takes everything
	_ = z.Close()
	return small.Bytes()
}

// serve answers what anybody may read, programs in other sites' pages too. It
// looks at no header but those of caching and content coding.
func (f *frontEnd) serve(w http.ResponseWriter, r *http.Request, of addon.Address, response *prepared.Response) error {
	if r.Method == http.MethodGet {
		f.addon.NoteRequest(of)
	}
	return web.ServePrepared(w, r, response)
}

// getIAP answers GET /api-addons/iap/config (spec 2.7).
func (f *frontEnd) getIAP(w http.ResponseWriter, r *http.Request) error {
	p, err := f.addon.IAP.Published(r.Context())
	if err != nil {
		return fault.Public(err)
	}
	return f.serve(w, r, addon.AddressIAP, f.iap.of(p.JSON))
}

// getSettings answers GET /api-addons/app/settings (spec 2.5, 4.5).
func (f *frontEnd) getSettings(w http.ResponseWriter, r *http.Request) error {
	p, err := f.addon.Settings.Published(r.Context())
	if err != nil {
		return fault.Public(err)
	}
	return f.serve(w, r, addon.AddressSettings, f.settings.of(p.JSON))
}

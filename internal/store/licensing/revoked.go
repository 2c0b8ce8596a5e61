package licensing

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/prepared"
	"github.com/countersign/countersign/license"
)

const (
	// maxRevoked is how many ids the list of revoked licenses has at most, by the
	// clients that read it.
	maxRevoked = 20_000
	// revokedStep is how long the same list is served, and revokedLasts how long a
	// client may use one.
	revokedStep  = time.Hour
	revokedLasts = 7 * 24 * time.Hour
)

// revokedLicenses is the cached list of revoked licenses, and what was signed
// of it.
type revokedLicenses struct {
	ids    []string
	mu     sync.Mutex
	signed signedList
}

type signedList struct {
	issuer string
	begins time.Time
	answer *prepared.Response
}

// RevokedList is the signed list of licenses that are not valid any more. issuer is the store's own address, empty for the
// name of its key. Within an hour the same list has the same text.
func (s *Service) RevokedList(ctx context.Context, issuer string) (*prepared.Response, error) {
	keys, err := s.signingKeys(ctx)
	if err != nil {
		return nil, err
	}
	r, err := s.revoked.Get(ctx)
	if err != nil {
		return nil, err
	}
	begins := s.now().UTC().Truncate(revokedStep)
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.signed; l.answer != nil && l.issuer == issuer && l.begins.Equal(begins) {
		return l.answer, nil
	}
	text, err := license.SignRevoked(license.Revoked{
		Issuer: keys.issuer(issuer), IssuedAt: begins, Expires: begins.Add(revokedLasts), IDs: r.ids,
	}, keys.signer)
	if err != nil {
		return nil, err
	}
	body, err := countersign.EncodeJSON(countersign.RevokedLicenses{List: text})
	if err != nil {
		return nil, err
	}
	r.signed = signedList{issuer, begins, prepared.New(prepared.Success("data", string(body)))}
	return r.signed.answer, nil
}

func (s *Service) readRevoked(ctx context.Context) (*revokedLicenses, error) {
	ids, err := s.db.RevokedLicenses(ctx, maxRevoked+1)
	if err != nil {
		return nil, err
	}
	if len(ids) > maxRevoked {
		s.log.Warn("the list of revoked licenses is full; the oldest are omitted", "most", maxRevoked)
		ids = ids[:maxRevoked]
	}
	slices.Sort(ids)
	return &revokedLicenses{ids: ids}, nil
}

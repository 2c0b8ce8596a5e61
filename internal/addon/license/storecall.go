package license

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/license"
)

// storeWait is how long a store may take to answer.
const storeWait = 15 * time.Second

// storeCall asks a store about licenses of a purchase code. Its errors say by
// their cause what to do, and none holds the code.
type storeCall struct {
	client countersign.Client
	code   string
	log    *slog.Logger
	keys   *license.KeySet // those that the store publishes, once they were read
}

// call asks the store of a purchase code, with the code when there is one.
func (s *Service) call(address, code string) *storeCall {
	bounded := *s.stores.Client()
	bounded.Timeout = storeWait
	// A person waits for the answer, and can ask again.
	return &storeCall{client: countersign.Client{BaseURL: address, HTTP: &bounded, Retries: -1}, code: code, log: s.log}
}

func (s *storeCall) check(ctx context.Context, licenseID, domain string) (answer string, err error) {
	c, err := s.client.CheckLicense(ctx, countersign.LicenseQuestion{LicenseID: licenseID, Domain: domain})
	switch {
	case err != nil:
		return "", s.explain(err)
	case !slices.Contains(checkCodes, c.Code):
		return "", s.unreachable(fmt.Errorf("the response to a check was %q", c.Code))
	}
	return c.Code, nil
}

// checkCodes are what a store may answer.
var checkCodes = []string{
	countersign.CheckValid, countersign.CheckSupportLapsed, countersign.CheckNotFound, countersign.CheckRefunded, countersign.CheckChargedBack,
	countersign.CheckRevoked, countersign.CheckItemMismatch, countersign.CheckDomainMismatch, countersign.CheckDomainNotActivated, countersign.CheckLimitReached,
}

// readKeys returns the keys that the store publishes, which are read once.
func (s *storeCall) readKeys(ctx context.Context) (*license.KeySet, error) {
	if s.keys != nil {
		return s.keys, nil
	}
	text, err := s.client.LicenseKeys(ctx)
	if err != nil {
		return nil, s.explain(err)
	}
	if s.keys, err = license.ReadKeySet(text); err != nil {
		return nil, s.unreachable(fmt.Errorf("its license keys: %v", err))
	}
	return s.keys, nil
}

// open reads a license as a client does when it starts.
func (s *storeCall) open(ctx context.Context, signed countersign.License, domain license.Domain, at time.Time) (license.License, error) {
	keys, err := s.readKeys(ctx)
	if err != nil {
		return license.License{}, err
	}
	l, err := license.Open(signed.License, keys, domain.Name, at)
	if err == nil && l.ID != signed.LicenseID {
		err = errors.New("its id differs from the one that the store reported")
	}
	if err != nil {
		return license.License{}, fault.Conflict("license_unusable", "The store sent a file that the app would refuse, so it was not saved: "+err.Error())
	}
	return l, nil
}

// explain returns what a store said, and one and the same error for everything else:
// whoever may type an address must not learn what is there in a private network.
func (s *storeCall) explain(err error) error {
	if said := fault.Of(err); said != nil {
		if refusal := s.refused(said); refusal != nil {
			return refusal
		}
	}
	return s.unreachable(err)
}

// refused is what the store said, in words for the owner of the site; nil for what no
// store says.
func (s *storeCall) refused(said *countersign.Error) error {
	message := s.redact(said.Message)
	withRetry := fault.WithRetry(fault.WithData(fault.Conflict(said.Code, message), said.Data), said.RetryAfter)
	switch {
	case said.Code == countersign.CodePurchaseNotFound:
		return input.Invalid(said.Code, map[string]string{"code": "The store does not recognize this purchase code, or it is no longer valid, for example after a refund. Check it against the receipt. If it matches, ask the seller"})
	case said.Code == countersign.CodeDomainInvalid, said.Code == countersign.CodeDomainFree:
		return input.Invalid(said.Code, map[string]string{"domain": message})
	case answered[said.Code]:
		return withRetry
	case said.Code == countersign.CodeRateLimited:
		withRetry.Kind, withRetry.Message = countersign.KindLimited, "Too many requests to the store. Nothing is lost: the purchase code is stored"
		return withRetry
	}
	return nil
}

// unreachable logs why a store did not answer. The error itself does not say it.
func (s *storeCall) unreachable(cause error) error {
	s.log.Warn("a license store did not answer", "store", s.client.BaseURL, "cause", s.redact(withoutAnswer(cause)))
	return fault.Unavailable("store_unreachable", "The store at "+s.client.BaseURL+" can't be reached right now. Nothing is lost: the purchase code is stored for this address. Check the address, or try again in a few minutes")
}

// withoutAnswer is the text of an error without the words of the other server, which
// may repeat what it was sent.
func withoutAnswer(err error) string {
	if said := fault.Of(err); said != nil {
		return fmt.Sprintf("HTTP %d, not an error of a store", said.Status)
	}
	if answer, ok := errors.AsType[*countersign.NotJSONError](err); ok {
		return fmt.Sprintf("HTTP %d, not JSON from a store", answer.Status)
	}
	return err.Error()
}

// redact takes the code out of what came from elsewhere.
func (s *storeCall) redact(text string) string {
	if s.code == "" {
		return text
	}
	return strings.ReplaceAll(text, s.code, codeHint(s.code))
}

// answered are the refusals of a store that knows the purchase code.
var answered = map[string]bool{
	countersign.CodeLimitReached: true, countersign.CodeMovesUsed: true, countersign.CodeMoveTooSoon: true,
	countersign.CodeDomainNotActivated: true, countersign.CodeFromMissing: true,
}

// codeHint is the ends of a code, so few characters that the rest can't be guessed.
func codeHint(code string) string {
	switch {
	case len(code) >= 20:
		return code[:4] + "…" + code[len(code)-4:]
	case len(code) >= 10:
		return "…" + code[len(code)-2:]
	}
	return "…"
}

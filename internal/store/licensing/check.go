package licensing

import (
	"context"
	"errors"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/license"
)

// CheckRequest asks whether a purchase or a license is valid for a domain. At
// least one of Code and ID is set; Item may be empty.
type CheckRequest struct {
	Code, ID, Domain, Item string
	// Workspace limits the check to the purchases of one workspace; 0 means all.
	Workspace int64
}

// Check checks a license and never writes. Only the operator and secret keys of the
// workspace learn the state of a purchase or an ended license; others get not_found.
// The error is of kind Invalid for a domain that can't have a license.
func (s *Service) Check(ctx context.Context, a people.Actor, q CheckRequest) (countersign.LicenseCheck, error) {
	code, err := s.evaluate(ctx, a, q)
	if err != nil {
		return countersign.LicenseCheck{}, err
	}
	return countersign.LicenseCheck{Valid: code == countersign.CheckValid || code == countersign.CheckSupportLapsed, Code: code}, nil
}

func (s *Service) evaluate(ctx context.Context, a people.Actor, q CheckRequest) (string, error) {
	if err := s.gate.Ready(); err != nil {
		return "", err
	}
	found, asked, err := s.findChecked(ctx, a, q)
	if err := s.gate.Ready(); err != nil { // the digest was made with a key file that was replaced
		return "", err
	}
	if errors.Is(err, sqldb.ErrNotFound) {
		return countersign.CheckNotFound, nil
	}
	if err != nil {
		return "", err
	}
	if q.Workspace != 0 && q.Workspace != found.WorkspaceID {
		return countersign.CheckNotFound, nil
	}
	h := purchaseLicenses{PurchaseLicenses: found, now: s.now()}
	d, bad := parseDomain(q.Domain, license.DomainRule{Wildcard: true, Staging: h.Licensing.StagingHosts})
	if code := h.past(asked, d, bad); code != "" {
		if a.Kind == people.KindOperator || (a.Kind == people.KindKey && a.Secret && a.Workspace == h.WorkspaceID) {
			return code, nil
		}
		return countersign.CheckNotFound, nil
	}
	if item, err := strconv.ParseInt(q.Item, 10, 64); q.Item != "" && (err != nil || item != h.ItemID) {
		return countersign.CheckItemMismatch, nil
	}
	if bad != nil {
		return "", bad
	}
	if code := h.domainCode(asked, d); code != "" {
		return code, nil
	}
	if h.Support && rules.Passed(h.SupportedUntil, h.now) {
		return countersign.CheckSupportLapsed, nil
	}
	return countersign.CheckValid, nil
}

// findChecked finds what a request names: a purchase, and a license when it names
// one. The error is sqldb.ErrNotFound when there is none, or when they do not
// belong together.
func (s *Service) findChecked(ctx context.Context, a people.Actor, q CheckRequest) (storedb.PurchaseLicenses, *storedb.License, error) {
	code := rules.LookupCode(q.Code)
	if q.ID == "" {
		h, err := s.findByCode(ctx, s.queryFor(a), code)
		return h, nil, err
	}
	if !license.ValidID(q.ID) {
		return storedb.PurchaseLicenses{}, nil, sqldb.ErrNotFound
	}
	l, err := s.db.License(ctx, q.ID)
	if err == nil && q.Code != "" && rules.FoldCode(l.Code) != rules.FoldCode(code) {
		err = sqldb.ErrNotFound
	}
	if err != nil {
		return storedb.PurchaseLicenses{}, nil, err
	}
	h, err := s.db.PurchaseLicensesByID(ctx, l.PurchaseID)
	return h, &l.License, err
}

// queryFor returns the query of a purchase for whoever asks about it. Only the operator and secret
// keys may read of a purchase that is not active; for everybody else it takes as long
// as one that is not there.
func (s *Service) queryFor(a people.Actor) purchaseQuery {
	switch {
	case a.Kind == people.KindOperator:
		return s.db.PurchaseLicenses
	case a.Kind == people.KindKey && a.Secret:
		return func(ctx context.Context, digest storedb.Digest) (storedb.PurchaseLicenses, error) {
			return s.db.WorkspacePurchaseLicenses(ctx, digest, a.Workspace)
		}
	}
	return s.db.ActivePurchaseLicenses
}

// past is the code of a purchase or a license that is not valid any more, "" for
// one that is. A purchase of which a license was revoked gets no others.
func (h purchaseLicenses) past(asked *storedb.License, d license.Domain, bad error) string {
	switch {
	case h.State != storedb.StateActive:
		return string(h.State)
	case asked != nil && asked.Ended != "":
		return countersign.CheckRevoked
	case asked == nil && h.hasEnding(storedb.EndingRevoked) && (bad != nil || !h.licensed(d)):
		return countersign.CheckRevoked
	}
	return ""
}

// domainCode is the code of a domain that is not licensed, "" for one that is. A
// purchase needs no license for a test domain.
func (h purchaseLicenses) domainCode(asked *storedb.License, d license.Domain) string {
	if asked != nil {
		if h.only(*asked).licensed(d) {
			return ""
		}
		return countersign.CheckDomainMismatch
	}
	switch {
	case h.isFree(d), h.licensed(d):
		return ""
	case h.checkLimit(d) != nil:
		return countersign.CheckLimitReached
	}
	return countersign.CheckDomainNotActivated
}

func (h purchaseLicenses) licensed(d license.Domain) bool {
	_, found := h.find(d)
	return found
}

// only is the purchaseLicenses with one of its licenses.
func (h purchaseLicenses) only(l storedb.License) purchaseLicenses {
	h.Licenses = []storedb.License{l}
	return h
}

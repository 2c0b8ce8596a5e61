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

// Question asks whether a purchase or a license is good for a domain. At
// least one of Code and ID is given; Item may be empty.
type Question struct {
	Code, ID, Domain, Item string
	// Workspace is whose purchases are asked about; 0 means everybody's.
	Workspace int64
}

// Check answers a question about a license. It never writes. What became of
// a purchase or of a license that has ended is told to the operator and to the
// workspace's secret keys; everybody else reads not_found. The error is of kind
// Invalid for a domain that can't have a license.
func (s *Service) Check(ctx context.Context, a people.Actor, q Question) (countersign.LicenseCheck, error) {
	code, err := s.judge(ctx, a, q)
	if err != nil {
		return countersign.LicenseCheck{}, err
	}
	return countersign.LicenseCheck{Valid: code == countersign.CheckValid || code == countersign.CheckSupportLapsed, Code: code}, nil
}

func (s *Service) judge(ctx context.Context, a people.Actor, q Question) (string, error) {
	if err := s.gate.Ready(); err != nil {
		return "", err
	}
	found, asked, err := s.askedAbout(ctx, a, q)
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
	h := holding{Holding: found, now: s.now()}
	d, bad := license.ParseDomain(q.Domain, license.DomainRule{Wildcard: true, Staging: h.Licensing.StagingHosts})
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
		return "", asSentence(bad)
	}
	if code := h.domainCode(asked, d); code != "" {
		return code, nil
	}
	if h.Support && rules.Passed(h.SupportedUntil, h.now) {
		return countersign.CheckSupportLapsed, nil
	}
	return countersign.CheckValid, nil
}

// askedAbout finds what a question names: a purchase, and a license when it names
// one. The error is sqldb.ErrNotFound when there is none, or when they do not
// belong together.
func (s *Service) askedAbout(ctx context.Context, a people.Actor, q Question) (storedb.Holding, *storedb.License, error) {
	code := rules.LookupCode(q.Code)
	if q.ID == "" {
		h, err := s.holdingByCode(ctx, s.holdingFinder(a), code)
		return h, nil, err
	}
	if !IsID(q.ID) {
		return storedb.Holding{}, nil, sqldb.ErrNotFound
	}
	l, err := s.db.License(ctx, q.ID)
	if err == nil && q.Code != "" && rules.FoldCode(l.Code) != rules.FoldCode(code) {
		err = sqldb.ErrNotFound
	}
	if err != nil {
		return storedb.Holding{}, nil, err
	}
	h, err := s.db.HoldingByID(ctx, l.PurchaseID)
	return h, &l.License, err
}

// holdingFinder returns the query of a purchase for whoever asks about it. Only the operator and secret
// keys may read of a purchase that is not active; for everybody else it takes as long
// as one that is not there.
func (s *Service) holdingFinder(a people.Actor) findHolding {
	switch {
	case a.Kind == people.KindOperator:
		return s.db.Holding
	case a.Kind == people.KindKey && a.Secret:
		return func(ctx context.Context, digest storedb.Digest) (storedb.Holding, error) {
			return s.db.HoldingFor(ctx, digest, a.Workspace)
		}
	}
	return s.db.ActiveHolding
}

// IsID tells of 1 to 128 printable characters without space.
func IsID(text string) bool {
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return false
		}
	}
	return text != "" && len(text) <= rules.MaxCode
}

// past is the code of a purchase or a license that is not good any more, "" for
// one that is. A purchase of which a license was revoked gets no others.
func (h holding) past(asked *storedb.License, d license.Domain, bad error) string {
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
func (h holding) domainCode(asked *storedb.License, d license.Domain) string {
	if asked != nil {
		if h.only(*asked).licensed(d) {
			return ""
		}
		return countersign.CheckDomainMismatch
	}
	switch {
	case h.isFree(d), h.licensed(d):
		return ""
	case h.room(d) != nil:
		return countersign.CheckLimitReached
	}
	return countersign.CheckDomainNotActivated
}

func (h holding) licensed(d license.Domain) bool {
	_, found := h.find(d)
	return found
}

// only is the holding with one of its licenses.
func (h holding) only(l storedb.License) holding {
	h.Licenses = []storedb.License{l}
	return h
}

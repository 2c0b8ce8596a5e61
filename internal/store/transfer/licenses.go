package transfer

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/license"
)

// The lines of licenses. A key's line has its public part alone: it goes on
// checking what it has signed.
type (
	licenseLine struct {
		Type         string                 `json:"type"`
		ID           string                 `json:"id"`
		PurchaseCode string                 `json:"purchase_code"`
		Domain       string                 `json:"domain"`
		Free         bool                   `json:"free,omitempty"`
		IssuedAt     countersign.Timestamp  `json:"issued_at"`
		Ended        storedb.Ending         `json:"ended,omitempty"`
		EndedAt      *countersign.Timestamp `json:"ended_at,omitempty"`
	}
	licenseKeyLine struct {
		Type      string                 `json:"type"`
		ID        string                 `json:"id"`
		Public    string                 `json:"public"`
		CreatedAt countersign.Timestamp  `json:"created_at"`
		RetiredAt *countersign.Timestamp `json:"retired_at,omitempty"`
	}
)

// license is the license of a line; its digest is still to be made.
func (l licenseLine) license() (storedb.License, error) {
	rule := license.DomainRule{Wildcard: true}
	if l.Free {
		rule.Staging = []string{l.Domain}
	}
	d, err := license.ParseDomain(l.Domain, rule)
	switch {
	case !license.ValidID(l.ID):
		return storedb.License{}, fault.Invalid(fault.CodeInvalid, "invalid id of a license: expected 1 to 128 visible ASCII characters")
	case err != nil:
		return storedb.License{}, fault.Invalid(fault.CodeInvalid, "domain: "+fault.Message(err))
	case d.String() != l.Domain:
		return storedb.License{}, fault.Invalid(fault.CodeInvalid, fmt.Sprintf("domain %q: write it as %q", l.Domain, d))
	case l.IssuedAt.IsZero():
		return storedb.License{}, fault.Invalid(fault.CodeInvalid, "issued_at is missing")
	case !slices.Contains([]storedb.Ending{"", storedb.EndingMoved, storedb.EndingGivenUp, storedb.EndingReplaced, storedb.EndingRevoked}, l.Ended):
		return storedb.License{}, fault.Invalid(fault.CodeInvalid, fmt.Sprintf("invalid ended %q: use moved, given_up, replaced or revoked, or omit it", l.Ended))
	case (l.Ended == "") != valueOf(l.EndedAt).IsZero():
		return storedb.License{}, fault.Invalid(fault.CodeInvalid, "ended and ended_at: set both, or neither")
	}
	return storedb.License{
		ID: l.ID, Domain: d.Name, Wildcard: d.Wildcard, Free: l.Free, IssuedAt: l.IssuedAt, Ended: l.Ended, EndedAt: valueOf(l.EndedAt),
	}, nil
}

func lineOfLicense(l storedb.Licensed) licenseLine {
	return licenseLine{
		Type: "license", ID: l.ID, PurchaseCode: l.Code, Domain: licensing.DomainOf(l.License).String(), Free: l.Free,
		IssuedAt: l.IssuedAt, Ended: l.Ended, EndedAt: pointerTo(l.EndedAt),
	}
}

// key is the key of a line, without a private part.
func (l licenseKeyLine) key() (licensing.Key, error) {
	public, err := base64.RawURLEncoding.Strict().DecodeString(l.Public)
	if err == nil {
		_, err = license.NewKeySet(license.Key{ID: l.ID, Public: public})
	}
	switch {
	case err != nil:
		return licensing.Key{}, fault.Invalid(fault.CodeInvalid, "invalid id or public: expected kid and x of a key in a store's key set")
	case l.CreatedAt.IsZero():
		return licensing.Key{}, fault.Invalid(fault.CodeInvalid, "created_at is missing")
	}
	return licensing.Key{ID: l.ID, Public: public, CreatedAt: l.CreatedAt, RetiredAt: valueOf(l.RetiredAt)}, nil
}

func exportLicenses(ctx context.Context, view *storedb.DB, out io.Writer) error {
	keys, err := view.LicenseKeys(ctx)
	if err != nil {
		return err
	}
	for _, k := range keys {
		err := writeLine(out, licenseKeyLine{
			Type: "license_key", ID: k.ID, Public: base64.RawURLEncoding.EncodeToString(k.Public), CreatedAt: k.CreatedAt, RetiredAt: pointerTo(k.RetiredAt),
		})
		if err != nil {
			return err
		}
	}
	return view.EachLicense(ctx, func(l storedb.Licensed) error { return writeLine(out, lineOfLicense(l)) })
}

func (imp *importer) stageLicenseKey(line int, raw []byte) error {
	var l licenseKeyLine
	if err := decodeLine(raw, &l); err != nil {
		return bad(err)
	}
	k, err := l.key()
	if err != nil {
		return bad(err)
	}
	imp.licenseKeys = append(imp.licenseKeys, numbered[licensing.Key]{line, k})
	return nil
}

func (imp *importer) stageLicense(ctx context.Context, line int, raw []byte) error {
	var l licenseLine
	if err := decodeLine(raw, &l); err != nil {
		return bad(err)
	}
	row, err := l.license()
	if err != nil {
		return bad(err)
	}
	code, err := rules.CheckCode(l.PurchaseCode)
	if err != nil {
		return bad(err)
	}
	return imp.stage.AddLicense(ctx, line, rules.CodeDigest(imp.service.gate.Box(), code), row)
}

// moveLicenses writes the staged licenses and their keys.
func (imp *importer) moveLicenses(ctx context.Context, tx *storedb.DB) error {
	if err := imp.moveLicenseKeys(ctx, tx); err != nil {
		return err
	}
	conflicts, err := tx.StageLicenseConflicts(ctx)
	if err != nil {
		return err
	}
	for _, c := range conflicts {
		reason := "the purchase has another license for this domain"
		switch {
		case c.Unknown:
			reason = "no purchase has this code; its line must come before"
		case c.Taken:
			reason = "this license id already exists for another purchase or domain"
		}
		if err := imp.unstage(ctx, tx, storedb.StagedLicenses, c.Line, reason); err != nil {
			return err
		}
	}
	imp.report.Licenses, err = tx.MoveLicenses(ctx)
	imp.report.Licenses.Repeated = imp.repeated.licenses
	return err
}

// moveLicenseKeys adds keys that the store does not have. Those it has stay as
// they are: they may sign here.
func (imp *importer) moveLicenseKeys(ctx context.Context, tx *storedb.DB) error {
	there, err := tx.LicenseKeys(ctx)
	if err != nil {
		return err
	}
	for _, n := range imp.licenseKeys {
		i := slices.IndexFunc(there, func(k licensing.Key) bool { return k.ID == n.value.ID || string(k.Public) == string(n.value.Public) })
		switch {
		case i >= 0 && there[i].ID == n.value.ID && string(there[i].Public) == string(n.value.Public):
			imp.report.LicenseKeys.Same++
		case i >= 0:
			imp.bad[n.line] = "another key has this id or public part"
		case len(there) >= licensing.MaxKeys-1: // one signs
			imp.bad[n.line] = fmt.Sprintf("more than %d license keys; clients read no more", licensing.MaxKeys)
		default:
			imp.report.LicenseKeys.New++
			if err := tx.AddLicenseKey(ctx, n.value); err != nil {
				return err
			}
			there = append(there, n.value)
		}
	}
	return nil
}

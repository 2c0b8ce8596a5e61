package pages

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/license"
	"github.com/countersign/countersign/internal/frame"
)

var licenseCrumb = frame.Link{Label: "License file", Path: pathLicense}

func licensePath(l license.License) string { return pathLicense + "/" + strconv.FormatInt(l.ID, 10) }

// licenseCrumbs lead to a page about a license.
func licenseCrumbs(l license.License) []frame.Link {
	return crumbs(licenseCrumb, frame.Link{Label: l.Domain, Path: licensePath(l)})
}

// movePath leads to the page on which a domain is given up for another one; to may
// be empty.
func movePath(savedCode int64, from, to string) string {
	query := url.Values{"kept": {strconv.FormatInt(savedCode, 10)}, "from": {from}}
	if to != "" {
		query.Set("domain", to)
	}
	return pathLicense + "/move?" + query.Encode()
}

// licenseBadge returns a word for what is known of a file.
func licenseBadge(l license.License) frame.Badge {
	switch {
	case !l.MovedAt.IsZero():
		return frame.Badge{Text: "Moved"}
	case l.Answer == countersign.CheckRevoked:
		return frame.Badge{Text: "Revoked", Kind: frame.Danger}
	case !l.Good():
		return frame.Badge{Text: "No longer valid", Kind: frame.Danger}
	case l.Free():
		return frame.Badge{Text: "Test domain", Kind: frame.Note}
	}
	return frame.Badge{Text: "Licensed", Kind: frame.Good}
}

// answerWords is what the store said, for people.
func answerWords(code string) string {
	switch code {
	case countersign.CheckValid:
		return "the license is valid"
	case countersign.CheckSupportLapsed:
		return "the license is valid; support has ended"
	case countersign.CheckNotFound:
		return "the license is no longer valid: it was moved or revoked, or the purchase was refunded"
	case countersign.CheckRefunded:
		return "the purchase was refunded"
	case countersign.CheckChargedBack:
		return "the payment was charged back"
	case countersign.CheckRevoked:
		return "the license was revoked, or moved to another domain"
	case countersign.CheckDomainMismatch:
		return "the license is for another domain"
	}
	return "the license is not valid (" + code + ")"
}

// licenseFacts returns what a license is for, whose item it is of, and until when.
func licenseFacts(l license.License, now time.Time) frame.Facts {
	facts := append(frame.LicenseFacts(strings.Join(l.Domains, ", "), l.ItemName, l.ItemID, l.LicenseType, l.SupportedUntil, now,
		frame.Fact{Label: "Purchase code", Value: frame.Mono(l.Code.Hint)}, frame.Fact{Label: "Store", Value: frame.Mono(l.Code.Store)}),
		frame.Fact{Label: "State", Value: licenseBadge(l)})
	if !l.MovedAt.IsZero() {
		facts = append(facts, frame.Fact{Label: "Moved", Value: frame.Time(l.MovedAt)})
	}
	if !l.CheckedAt.IsZero() {
		facts = append(facts, frame.Fact{Label: "The store said", Value: frame.Stack(frame.Words(answerWords(l.Answer)), frame.Time(l.CheckedAt))})
	}
	return facts
}

package pages

import (
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/frame"
)

// codeChoices are the purchase codes that can be chosen.
func (l licensePage) codeChoices() []frame.Choice {
	var all []frame.Choice
	for _, c := range l.known.Codes {
		label := c.Hint
		for _, f := range l.known.Files {
			if f.Code.ID == c.ID {
				label += " – " + f.ItemName
				break
			}
		}
		all = append(all, frame.Choice{Value: strconv.FormatInt(c.ID, 10), Label: label + ", for " + c.Store})
	}
	return append(all, frame.Choice{Value: "0", Label: "Another code, typed below"})
}

// misfits are the good files for other hosts, when none is for this one.
func (l licensePage) misfits() (domains []string) {
	for _, f := range l.known.Files {
		if !f.Good() {
			continue
		}
		if f.Opens(l.host) {
			return nil
		}
		domains = append(domains, f.Domain)
	}
	return domains
}

func (l licensePage) rows() (rows []frame.Row) {
	for _, f := range l.known.Files {
		acts := []templ.Component{frame.LinkButton{Link: frame.Link{Label: "Download", Path: licensePath(f) + "/file", Icon: "download"}, Context: "the file for " + f.Domain}}
		if f.Good() && !f.Free() {
			acts = append(acts, frame.LinkButton{Link: frame.Link{Label: "Move", Path: movePath(f.Code.ID, f.Domain, "")}, Context: "the license of " + f.Domain})
		}
		if f.Good() {
			acts = append(acts, frame.LinkButton{Link: frame.Link{Label: "Revoke", Path: licensePath(f) + "/revoke"}, Context: "the license of " + f.Domain})
		} else {
			acts = append(acts, frame.LinkButton{Link: frame.Link{Label: "Forget", Path: licensePath(f) + "/forget"}, Context: "the file for " + f.Domain})
		}
		rows = append(rows, frame.Row{
			frame.Link{Label: f.Domain, Path: licensePath(f)}, licenseBadge(f), frame.Stack(frame.Words(f.ItemName), frame.Muted("Code "+f.Code.Hint)),
			frame.Time(f.MadeAt), frame.Group(acts...),
		})
	}
	return rows
}

// licenseBadge says in a word what is known of a file.
func licenseBadge(l addon.License) frame.Badge {
	switch {
	case !l.MovedAt.IsZero():
		return frame.Badge{Text: "Moved away"}
	case l.Answer == countersign.CheckRevoked:
		return frame.Badge{Text: "Revoked", Kind: frame.Danger}
	case !l.Good():
		return frame.Badge{Text: "Not good any more", Kind: frame.Danger}
	case l.Free():
		return frame.Badge{Text: "For tests", Kind: frame.Note}
	}
	return frame.Badge{Text: "In use", Kind: frame.Good}
}

// answerWords is what the store said, for people.
func answerWords(code string) string {
	switch code {
	case countersign.CheckValid:
		return "the license is good"
	case countersign.CheckSupportLapsed:
		return "the license is good; support has ended"
	case countersign.CheckNotFound:
		return "the license is not good any more: it was moved or revoked, or the purchase was refunded"
	case countersign.CheckRefunded:
		return "the purchase was refunded"
	case countersign.CheckChargedBack:
		return "the payment was taken back"
	case countersign.CheckRevoked:
		return "the license was revoked, or moved to another domain"
	case countersign.CheckDomainMismatch:
		return "the license is for another domain"
	}
	return "the license is not good (" + code + ")"
}

// licenseFacts says what a license is for, whose item it is of, and until when.
func licenseFacts(l addon.License, now time.Time) frame.Facts {
	facts := frame.Facts{
		{Label: "For the site", Value: frame.Mono(strings.Join(l.Domains, ", "))},
		{Label: "Item", Value: frame.Words(l.ItemName + " (" + strconv.FormatInt(l.ItemID, 10) + ")")},
		{Label: "License", Value: frame.Words(l.LicenseType)},
		{Label: "Purchase code", Value: frame.Mono(l.Code.Hint)},
		{Label: "Store", Value: frame.Mono(l.Code.Store)},
		{Label: "Good until", Value: frame.Words("It does not run out")},
		{Label: "Support", Value: frame.Words(supportWords(l.SupportedUntil, now))},
		{Label: "State", Value: licenseBadge(l)},
	}
	if !l.MovedAt.IsZero() {
		facts = append(facts, frame.Fact{Label: "Moved away", Value: frame.Time(l.MovedAt)})
	}
	if !l.CheckedAt.IsZero() {
		facts = append(facts, frame.Fact{Label: "The store said", Value: frame.Stack(frame.Words(answerWords(l.Answer)), frame.Time(l.CheckedAt))})
	}
	return facts
}

func supportWords(until, now time.Time) string {
	switch {
	case until.IsZero():
		return "Not included"
	case now.After(until):
		return "Ended on " + day(until)
	}
	return "Until " + day(until)
}

// day is a date inside a sentence.
func day(t time.Time) string { return t.UTC().Format("2 January 2006") }

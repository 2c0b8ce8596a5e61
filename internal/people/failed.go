package people

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/people/peopledb"
)

// Limits on audit entries of failed sign-ins and on their memory, because strangers
// decide how many there are.
const (
	failedLines     = 20      // addresses with a line of their own, a minute
	failedEmails    = 5       // e-mails that a line names
	failedAddresses = 1 << 12 // addresses that are told apart, a minute
	failedMinutes   = 10      // minutes that wait for a database that is down
	failedInterval  = 5 * time.Second
)

// failedSignIn is one failure. Its e-mail is a user's, "" for one that nobody has:
// what was typed there may be a password. limited says that no password was checked,
// because of earlier failures.
type failedSignIn struct {
	email   string
	limited bool
}

// failedSignIns counts failed sign-ins by address and minute until they are written.
type failedSignIns struct {
	mu      sync.Mutex
	minutes []*failedMinute // oldest first
}

type failedMinute struct {
	minute    time.Time
	addresses map[string]*failedAddress
	// more counts the failures of addresses beyond the first failedAddresses.
	more int
}

type failedAddress struct {
	address                 string
	last                    time.Time
	wrong, unknown, limited int
	emails                  map[string]struct{}
}

func (a *failedAddress) failures() int { return a.wrong + a.limited }

// note counts one failure.
func (f *failedSignIns) note(now time.Time, from netip.Addr, one failedSignIn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	minute := now.Truncate(time.Minute)
	if len(f.minutes) == 0 || !f.minutes[len(f.minutes)-1].minute.Equal(minute) {
		f.add(&failedMinute{minute: minute, addresses: map[string]*failedAddress{}})
	}
	f.minutes[len(f.minutes)-1].note(now, limitAddress(from), one)
}

// add puts a minute last, and drops the first when too many wait.
func (f *failedSignIns) add(m *failedMinute) {
	f.minutes = append(f.minutes, m)
	if len(f.minutes) > failedMinutes {
		f.minutes = slices.Delete(f.minutes, 0, 1)
	}
}

func (m *failedMinute) note(now time.Time, address string, one failedSignIn) {
	a := m.addresses[address]
	if a == nil {
		if len(m.addresses) == failedAddresses {
			m.more++
			return
		}
		a = &failedAddress{address: address, emails: map[string]struct{}{}}
		m.addresses[address] = a
	}
	a.last = now
	switch {
	case one.limited:
		a.limited++
		return
	case one.email == "":
		a.unknown++
	default:
		a.emails[one.email] = struct{}{}
	}
	a.wrong++
}

// take removes the minutes that ended before a time.
func (f *failedSignIns) take(before time.Time) []*failedMinute {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for n < len(f.minutes) && !f.minutes[n].minute.Add(time.Minute).After(before) {
		n++
	}
	taken := slices.Clone(f.minutes[:n])
	f.minutes = slices.Delete(f.minutes, 0, n)
	return taken
}

// giveBack puts what could not be written before what came meanwhile.
func (f *failedSignIns) giveBack(taken []*failedMinute) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.minutes = append(taken, f.minutes...)
	f.minutes = f.minutes[max(0, len(f.minutes)-failedMinutes):]
}

// lines are the entries of a minute: one for each of the addresses with the most
// failures, and one about all others.
func (m *failedMinute) lines() (lines []failedLine) {
	all := slices.SortedFunc(maps.Values(m.addresses), func(a, b *failedAddress) int {
		return cmp.Or(cmp.Compare(b.failures(), a.failures()), strings.Compare(a.address, b.address))
	})
	for _, a := range all[:min(len(all), failedLines)] {
		lines = append(lines, a.line())
	}
	if rest := all[min(len(all), failedLines):]; len(rest) > 0 {
		lines = append(lines, m.restLine(rest))
	}
	return lines
}

// failedLine is one entry of the audit log about failed sign-ins.
type failedLine struct {
	at      time.Time
	address string
	event   Event
}

func (a *failedAddress) line() failedLine {
	emails := slices.Sorted(maps.Keys(a.emails))
	subject := strings.Join(emails[:min(len(emails), failedEmails)], ", ")
	if more := len(emails) - failedEmails; more > 0 {
		subject += fmt.Sprintf(" and %d more", more)
	}
	detail := fmt.Sprintf("%d wrong in this minute", a.wrong)
	if a.unknown > 0 {
		detail += fmt.Sprintf(", %d of them with an unknown e-mail", a.unknown)
	}
	if a.limited > 0 {
		detail += fmt.Sprintf("; %d more refused by the limit", a.limited)
	}
	return failedLine{a.last, a.address, Event{Action: actionUserRefuseSignIn, Subject: subject, Detail: detail}}
}

func (m *failedMinute) restLine(rest []*failedAddress) failedLine {
	failures, last := m.more, time.Time{}
	for _, a := range rest {
		failures += a.failures()
		if a.last.After(last) {
			last = a.last
		}
	}
	addresses := fmt.Sprintf("%d", len(rest))
	if m.more > 0 {
		addresses = fmt.Sprintf("more than %d", len(rest))
	}
	return failedLine{last, "", Event{Action: actionUserRefuseSignIn, Detail: fmt.Sprintf("%d failed in this minute from %s other addresses", failures, addresses)}}
}

// writeFailed writes the failed sign-ins of the minutes that ended before a time. What
// can't be written waits for the next time.
func (p *People) writeFailed(ctx context.Context, before time.Time) error {
	taken := p.failed.take(before)
	if len(taken) == 0 {
		return nil
	}
	err := p.db.Tx(ctx, func(tx *peopledb.DB) error {
		for _, m := range taken {
			for _, l := range m.lines() {
				if err := p.recordAt(ctx, tx, l.at, l.address, Actor{Kind: KindVisitor, FrontEnd: FrontEndPage}, l.event); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil && !fault.HasCode(err, countersign.CodeOutcomeUnknown) { // else the commit may have happened
		p.failed.giveBack(taken)
	}
	return err
}

// Run writes failed sign-ins into the audit log until ctx ends; [People.Close] writes
// the last ones.
func (p *People) Run(ctx context.Context) {
	group.Every(ctx, failedInterval, func(ctx context.Context) {
		if err := p.writeFailed(ctx, p.now()); err != nil && ctx.Err() == nil {
			p.log.Warn("failed sign-ins could not be written into the audit log", "cause", err)
		}
	})
}

// Close writes what is still to be written of failed sign-ins.
func (p *People) Close(ctx context.Context) {
	if err := p.writeFailed(ctx, p.now().Add(time.Minute)); err != nil {
		p.log.Warn("failed sign-ins could not be written into the audit log", "cause", err)
	}
}

package requests

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/requestid"
	"github.com/countersign/countersign/internal/sqldb"
)

// Result is how a call ended.
type Result string

// The results.
const (
	Valid  Result = "valid"
	Failed Result = "failed"
)

// Filter selects calls. Zero fields select all.
type Filter struct {
	Workspace int64
	Endpoint  string
	Key       int64
	Item      int64
	Purchase  int64
	Result    Result
	Reason    string
	Address   string
	// From and To bound the time of the call; To does not belong to it.
	From, To time.Time
	// Before and After are the id at the end of the page before: Before lists what is older,
	// the newest first, and After what is newer, the oldest first.
	Before, After requestid.Number
	// Limit is how many calls at most: 50 when it is 0, and never more than 1000.
	Limit int
}

// Call is one logged call.
type Call struct {
	ID        requestid.Number
	Workspace int64 // of the key, 0 when it is not known
	Key       int64
	Item      int64
	Purchase  int64
	Endpoint  string
	Method    string
	Status    int
	Reason    string // empty for a valid call
	Took      time.Duration
	Address   string
	Agent     string
	Sent      []Param
}

// Time returns when the call began, in milliseconds.
func (c Call) Time() time.Time { return c.ID.Time() }

// Result returns how the call ended.
func (c Call) Result() Result {
	if c.Reason == "" {
		return Valid
	}
	return Failed
}

func callOf(r row) Call {
	c := Call{
		ID: requestid.Number(r.numbers[columnID]), Workspace: r.numbers[columnWorkspace], Key: r.numbers[columnKey], Item: r.numbers[columnItem],
		Purchase: r.numbers[columnPurchase], Status: int(r.numbers[columnStatus]), Took: time.Duration(r.numbers[columnMicros]) * time.Microsecond,
		Endpoint: string(r.texts[columnEndpoint]), Method: string(r.texts[columnMethod]), Reason: string(r.texts[columnReason]),
		Agent: string(r.texts[columnAgent]), Sent: ParseSent(string(r.texts[columnSent])),
	}
	var address netip.Addr
	if address.UnmarshalBinary(r.texts[columnAddress]) == nil && address.IsValid() {
		c.Address = address.String()
	}
	return c
}

// Page is a part of the list of calls.
type Page struct {
	Calls []Call
	// Next is what [Filter.Before], or After, continues with; 0 at the end. A page may have
	// fewer calls than its limit, or none, and still have a next one: a search that finds
	// little stops after a while.
	Next requestid.Number
}

// How many calls a page has when nothing is asked for, and at most.
const (
	defaultLimit = 50
	maxLimit     = 1000
)

// maxDecoded is how many blocks are decoded for one page.
const maxDecoded = 100

// Calls lists calls, the newest first.
func (l *Log) Calls(ctx context.Context, a people.Actor, f Filter) (Page, error) {
	if err := l.options.See(ctx, a, f.Workspace); err != nil {
		return Page{}, err
	}
	return l.search(ctx, func() *search { return newSearch(f) })
}

// search runs a search. It runs it again when blocks that it was about to read were merged.
func (l *Log) search(ctx context.Context, begin func() *search) (page Page, err error) {
	for range 3 {
		s := begin()
		err = l.read(ctx, func(db *sqldb.DB) error { return s.run(ctx, db.Queries()) })
		page.Calls, page.Next = sqldb.Convert(s.found, callOf), s.next
		if !errors.Is(err, sqldb.ErrNotFound) {
			break
		}
	}
	if err != nil {
		page = Page{}
	}
	if errors.Is(err, errNone) {
		err = nil
	}
	return page, err
}

// Count counts the calls that a filter selects, without the ends of pages, up to the most that a
// page may have. atLeast reports that there may be more.
func (l *Log) Count(ctx context.Context, a people.Actor, f Filter) (n int, atLeast bool, err error) {
	f.Before, f.After, f.Limit = 0, 0, maxLimit
	page, err := l.Calls(ctx, a, f)
	return len(page.Calls), page.Next != 0, err
}

// errUnknown means that no logged call has an id.
var errUnknown = fault.NotFound("request_not_found", "No logged request has this id")

// Call finds a call by its request id, as a client has it from X-Request-Id. A workspace
// other than 0 finds its own calls only.
func (l *Log) Call(ctx context.Context, a people.Actor, workspace int64, id string) (Call, error) {
	if err := l.options.See(ctx, a, workspace); err != nil {
		return Call{}, err
	}
	number, ok := requestid.Parse(id)
	if !ok {
		return Call{}, errUnknown
	}
	page, err := l.search(ctx, func() *search {
		s := newSearch(Filter{Workspace: workspace})
		s.from, s.end = int64(number), int64(number)+1
		return s
	})
	if err != nil {
		return Call{}, err
	}
	if len(page.Calls) == 0 {
		return Call{}, errUnknown
	}
	return page.Calls[0], nil
}

// search is the search for one page, in a range of ids.
type search struct {
	from, end int64 // end does not belong to it
	up        bool  // the oldest first
	limit     int
	left      int // how many more blocks may be decoded

	numbers [numberColumns]int64 // what calls must have; zero values match all
	texts   [textColumns]string
	result  Result
	hashes  []uint64 // what their blocks must have

	found []row // in the order of the page
	next  requestid.Number
}

func newSearch(f Filter) *search {
	s := &search{end: math.MaxInt64, up: f.After != 0, limit: defaultLimit, left: maxDecoded, result: f.Result}
	if f.Limit > 0 {
		s.limit = min(f.Limit, maxLimit)
	}
	if !f.From.IsZero() {
		s.from = firstAt(f.From)
	}
	if !f.To.IsZero() {
		s.end = firstAt(f.To)
	}
	if f.Before != 0 {
		s.end = min(s.end, int64(f.Before))
	}
	if f.After != 0 {
		s.from = max(s.from, int64(f.After)+1)
	}
	s.numbers = [...]int64{columnWorkspace: f.Workspace, columnKey: f.Key, columnItem: f.Item, columnPurchase: f.Purchase, columnMicros: 0}
	s.texts = [...]string{columnEndpoint: f.Endpoint, columnReason: f.Reason, columnAddress: binaryAddress(f.Address), columnSent: ""}
	for c, v := range s.numbers {
		if v != 0 {
			s.hashes = append(s.hashes, hashNumber(c, v))
		}
	}
	for c, v := range s.texts {
		if v != "" {
			s.hashes = append(s.hashes, hashText(c, v))
		}
	}
	switch f.Result {
	case Valid:
		s.hashes = append(s.hashes, hashText(columnReason, ""))
	case Failed:
		s.hashes = append(s.hashes, hashFailed)
	}
	return s
}

// binaryAddress returns an address as blocks have it. What is not an address is none of a block.
func binaryAddress(text string) string {
	if text == "" {
		return ""
	}
	address, err := netip.ParseAddr(text)
	if err != nil {
		return "-"
	}
	binary, _ := address.MarshalBinary() // it has no error
	return string(binary)
}

// matches reports whether a call of a block is one that is searched for.
func (s *search) matches(b *columns, i int) bool {
	if id := b.numbers[columnID][i]; id < s.from || id >= s.end {
		return false
	}
	for c, v := range s.numbers {
		if v != 0 && b.numbers[c][i] != v {
			return false
		}
	}
	for c, v := range s.texts {
		if v != "" && string(b.text(c, i)) != v {
			return false
		}
	}
	return s.result == "" || (s.result == Valid) == (len(b.text(columnReason, i)) == 0)
}

// probe is a block of which a search knows the buckets of its values.
type probe struct {
	first, last int64
	buckets     [][]byte
}

// run fills the page from blocks in the order of their ends. Blocks of several processes, and those with
// slow calls, overlap: a call is in its place once no block that is left reaches it.
func (s *search) run(ctx context.Context, q sqldb.Queries) error {
	for rows, at := 64, (*probe)(nil); ; rows = min(4*rows, 4096) {
		probes, err := s.probes(ctx, q, at, rows)
		if err != nil {
			return err
		}
		for i := range probes {
			if at = &probes[i]; s.full(at) || s.tired(at) {
				return nil
			}
			if err := s.block(ctx, q, at); err != nil {
				return err
			}
		}
		if len(probes) < rows {
			if len(s.found) == s.limit {
				s.next = requestid.Number(s.found[s.limit-1].numbers[columnID])
			}
			return nil
		}
	}
}

// bucketColumn is the bucket of a filter for the upper half of a hash.
const bucketColumn = `, substr(filter, CAST(1 + 32 * ((length(filter) / 32 * CAST($%d AS bigint)) >> 32) AS integer), 32)`

// probes reads up to a number of blocks behind one.
func (s *search) probes(ctx context.Context, q sqldb.Queries, behind *probe, rows int) ([]probe, error) {
	text, args := strings.Builder{}, []any{s.from, s.end, int64(math.MaxInt64), int64(rows)}
	text.WriteString(`SELECT first_id, last_id`)
	for _, h := range s.hashes {
		args = append(args, int64(h>>32))
		fmt.Fprintf(&text, bucketColumn, len(args))
	}
	text.WriteString(` FROM request_blocks WHERE last_id >= $1 AND first_id < $2 AND `)
	if s.up {
		args[2] = int64(-1)
		text.WriteString(`first_id > $3 ORDER BY first_id LIMIT $4`)
	} else {
		text.WriteString(`last_id < $3 ORDER BY last_id DESC LIMIT $4`)
	}
	if behind != nil {
		args[2] = s.near(behind)
	}
	return sqldb.List(ctx, q, func(r sqldb.Row) (p probe, err error) {
		p.buckets = make([][]byte, len(s.hashes))
		into := []any{&p.first, &p.last}
		for i := range p.buckets {
			into = append(into, &p.buckets[i])
		}
		err = r.Scan(into...)
		return p, err
	}, text.String(), args...)
}

// near returns the end of a block that the search reaches first.
func (s *search) near(p *probe) int64 {
	if s.up {
		return p.first
	}
	return p.last
}

// before reports whether an id comes before another one on the page.
func (s *search) before(a, b int64) bool { return a != b && (a < b) == s.up }

// full reports whether the page is full of calls that come before a block.
func (s *search) full(p *probe) bool {
	if len(s.found) < s.limit {
		return false
	}
	last := s.found[s.limit-1].numbers[columnID]
	s.next = requestid.Number(last)
	return s.before(last, s.near(p))
}

// tired reports whether the search stops at a block because it has decoded enough. The next page begins there.
func (s *search) tired(p *probe) bool {
	next, begin := s.near(p)+1, s.end
	if s.up {
		next, begin = s.near(p)-1, s.from-1
	}
	if s.left > 0 || !s.before(begin, next) {
		return false
	}
	s.found = slices.DeleteFunc(s.found, func(r row) bool { return !s.before(r.numbers[columnID], s.near(p)) })
	s.next = requestid.Number(next)
	return true
}

// block searches a block, unless it has none of the values.
func (s *search) block(ctx context.Context, q sqldb.Queries, p *probe) error {
	for i, h := range s.hashes {
		if !mayHave(p.buckets[i], h) {
			return nil
		}
	}
	b, err := readBlock(ctx, q, p.first, p.last)
	if err != nil {
		return err
	}
	s.left--
	for n, i := 0, 0; i < b.calls && n < s.limit; i++ {
		at := i
		if !s.up {
			at = b.calls - 1 - i
		}
		if s.matches(b, at) {
			s.found = append(s.found, b.row(at))
			n++
		}
	}
	slices.SortFunc(s.found, func(a, b row) int {
		if s.up {
			a, b = b, a
		}
		return cmp.Compare(b.numbers[columnID], a.numbers[columnID])
	})
	s.found = s.found[:min(len(s.found), s.limit)]
	return nil
}

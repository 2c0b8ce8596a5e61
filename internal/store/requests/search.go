package requests

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
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

// maxDecoded is how many blocks are decoded for one page, and maxProbed for how many values their filters are read.
const (
	maxDecoded = 80
	maxProbed  = 2
)

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
	from, end  int64 // end does not belong to it
	up         bool  // the oldest first
	limit      int
	left       int // how many more blocks may be decoded
	conditions []condition

	columns columns // of the block that was read last

	at    int64 // the place of the block before
	found []row // in the order of the page
	next  requestid.Number
}

// condition is what calls must have, with the hash that their blocks have.
type condition struct {
	hash    uint64
	matches func(b *columns, i int) bool
}

func newSearch(f Filter) *search {
	s := &search{end: math.MaxInt64, up: f.After != 0, limit: defaultLimit, left: maxDecoded, at: -math.MaxInt64}
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
	s.number(columnPurchase, f.Purchase) // the rarest first
	s.text(columnAddress, binaryAddress(f.Address))
	s.number(columnItem, f.Item)
	s.text(columnReason, f.Reason)
	s.number(columnKey, f.Key)
	switch f.Result {
	case Valid:
		s.where(hashText(columnReason, ""), func(b *columns, i int) bool { return len(b.text(columnReason, i)) == 0 })
	case Failed:
		s.where(hashFailed, func(b *columns, i int) bool { return len(b.text(columnReason, i)) > 0 })
	}
	s.number(columnWorkspace, f.Workspace)
	s.text(columnEndpoint, f.Endpoint)
	return s
}

func (s *search) number(column int, v int64) {
	if v != 0 {
		s.where(hashNumber(column, v), func(b *columns, i int) bool { return b.numbers[column][i] == v })
	}
}

func (s *search) text(column int, v string) {
	if v != "" {
		s.where(hashText(column, v), func(b *columns, i int) bool { return string(b.text(column, i)) == v })
	}
}

func (s *search) where(hash uint64, matches func(*columns, int) bool) {
	s.conditions = append(s.conditions, condition{hash, matches})
}

// binaryAddress returns an address as blocks have it. What is not an address is in no block.
func binaryAddress(text string) string {
	address, err := netip.ParseAddr(text)
	if err != nil && text != "" {
		return "-"
	}
	binary, _ := address.MarshalBinary() // it has no error
	return string(binary)
}

// place returns the place of an id on the page: those that come first are lower. It is its own inverse.
func (s *search) place(id int64) int64 {
	if s.up {
		return id
	}
	return -id
}

// probe is a block, its place, and the buckets of what is searched for.
type probe struct {
	first, last, at int64
	buckets         [][]byte
}

// run fills the page from blocks in the order of their places.
func (s *search) run(ctx context.Context, q sqldb.Queries) error {
	for rows := 64; ; rows = min(2*rows, 1024) {
		probes, err := s.probes(ctx, q, rows)
		if err != nil {
			return err
		}
		for _, p := range probes {
			if s.ends(p.at) {
				return nil
			}
			if err := s.block(ctx, q, p); err != nil {
				return err
			}
			s.at = p.at
		}
		if len(probes) < rows {
			s.ends(math.MaxInt64)
			return nil
		}
	}
}

// The queries of the blocks in a range behind a place, with a bucket for each probed condition: that of the upper half of a hash.
const (
	bucketColumn = `, substr(filter, CAST(1 + 32 * ((length(filter) / 32 * CAST($%d AS bigint)) >> 32) AS integer), 32)`
	probesUp     = ` FROM request_blocks WHERE last_id >= $1 AND first_id < $2 AND first_id > $3 ORDER BY first_id LIMIT $4`
	probesDown   = ` FROM request_blocks WHERE last_id >= $1 AND first_id < $2 AND last_id < $3 ORDER BY last_id DESC LIMIT $4`
)

// probed returns the conditions for which filters are read: others hardly leave out a block more.
func (s *search) probed() []condition { return s.conditions[:min(len(s.conditions), maxProbed)] }

// probes reads the next blocks, up to a number.
func (s *search) probes(ctx context.Context, q sqldb.Queries, rows int) ([]probe, error) {
	text, args := `SELECT first_id, last_id`, []any{s.from, s.end, s.place(s.at), int64(rows)}
	for _, c := range s.probed() {
		args = append(args, int64(c.hash>>32))
		text += fmt.Sprintf(bucketColumn, len(args))
	}
	if s.up {
		text += probesUp
	} else {
		text += probesDown
	}
	return sqldb.List(ctx, q, func(r sqldb.Row) (probe, error) {
		p := probe{buckets: make([][]byte, len(s.probed()))}
		into := []any{&p.first, &p.last}
		for i := range p.buckets {
			into = append(into, &p.buckets[i])
		}
		err := r.Scan(into...)
		p.at = min(s.place(p.first), s.place(p.last))
		return p, err
	}, text, args...)
}

// ends reports whether the page ends before the place of the next block: it is full of calls that come before, or enough was
// decoded. Blocks of several processes, and those with slow calls, overlap.
func (s *search) ends(at int64) bool {
	last := len(s.found) - 1
	if last+1 == s.limit && s.place(s.found[last].id()) < at {
		s.next = requestid.Number(s.found[last].id())
		return true
	}
	if begin := min(s.place(s.from-1), s.place(s.end)); s.left > 0 || at-1 <= begin || at == math.MaxInt64 {
		return false
	}
	s.found = slices.DeleteFunc(s.found, func(r row) bool { return s.place(r.id()) >= at })
	s.next = requestid.Number(s.place(at - 1))
	return true
}

// block searches a block, unless its filter lacks what is searched for.
func (s *search) block(ctx context.Context, q sqldb.Queries, p probe) error {
	for i, c := range s.probed() {
		if !mayHave(p.buckets[i], c.hash) {
			return nil
		}
	}
	b := &s.columns
	if err := b.read(ctx, q, p.first, p.last); err != nil {
		return err
	}
	s.left--
	for n, i := 0, 0; i < b.calls && n < s.limit; i++ {
		call := i
		if !s.up {
			call = b.calls - 1 - i
		}
		if s.matches(b, call) {
			s.found = append(s.found, b.row(call))
			n++
		}
	}
	slices.SortFunc(s.found, func(a, b row) int { return cmp.Compare(s.place(a.id()), s.place(b.id())) })
	s.found = s.found[:min(len(s.found), s.limit)]
	return nil
}

// matches reports whether a call of a block is one that is searched for.
func (s *search) matches(b *columns, i int) bool {
	id := b.numbers[columnID][i]
	return id >= s.from && id < s.end && !slices.ContainsFunc(s.conditions, func(c condition) bool { return !c.matches(b, i) })
}

package requests

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/requestid"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/requestdb"
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
	// Purchase is found among the calls that the other fields select: name its item, too.
	Purchase int64
	Result   Result
	Reason   string
	Address  string
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

func callOf(r requestdb.Call) Call {
	return Call{
		ID: requestid.Number(r.ID), Workspace: r.WorkspaceID, Key: r.KeyID, Item: r.ItemID, Purchase: r.PurchaseID,
		Endpoint: r.Endpoint, Method: r.Method, Status: int(r.Status), Reason: r.Reason, Took: time.Duration(r.Micros) * time.Microsecond,
		Address: r.Address, Agent: r.Agent, Sent: ParseSent(r.Sent),
	}
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

// maxExamined is how many calls are examined for one page. To ask for those of a slot costs
// about as much as to examine slotCost of them.
const (
	maxExamined = 20_000
	slotCost    = 100
)

// Calls lists calls, the newest first.
func (l *Log) Calls(ctx context.Context, a people.Actor, f Filter) (Page, error) {
	if err := l.options.See(ctx, a, f.Workspace); err != nil {
		return Page{}, err
	}
	var s search
	err := l.read(ctx, func(db *requestdb.DB) error {
		s = newSearch(db, f)
		return s.run(ctx)
	})
	if errors.Is(err, errNone) {
		return Page{}, nil
	}
	return s.page, err
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
	var found requestdb.Call
	err := l.read(ctx, func(db *requestdb.DB) error {
		parts, err := db.Parts(ctx, timeOf)
		i := slices.IndexFunc(parts, func(p requestdb.Part) bool { return p.Has(int64(number)) })
		if err != nil || i < 0 {
			return errors.Join(err, sqldb.ErrNotFound)
		}
		found, err = db.Call(ctx, parts[i], int64(number))
		return err
	})
	if errors.Is(err, errNone) || err == nil && workspace != 0 && found.WorkspaceID != workspace {
		err = errUnknown
	}
	return callOf(found), sqldb.IfNotFound(err, errUnknown)
}

// search is the search for one page.
type search struct {
	db    *requestdb.DB
	match requestdb.Match
	in    requestdb.Range
	slots []slotValue
	limit int
	left  int // how many more calls may be examined
	page  Page
}

// slotValue is what a slot must have to be worth a look.
type slotValue struct{ kind, value int64 }

func newSearch(db *requestdb.DB, f Filter) search {
	s := search{db: db, left: maxExamined, limit: defaultLimit, in: requestdb.Range{End: math.MaxInt64, Up: f.After != 0}}
	if f.Limit > 0 {
		s.limit = min(f.Limit, maxLimit)
	}
	s.match = requestdb.Match{
		WorkspaceID: f.Workspace, KeyID: f.Key, ItemID: f.Item, PurchaseID: f.Purchase, Endpoint: f.Endpoint, Reason: f.Reason, Address: f.Address,
		Valid: f.Result == Valid, Failed: f.Result == Failed,
	}
	if !f.From.IsZero() {
		s.in.First = firstAt(f.From)
	}
	if !f.To.IsZero() {
		s.in.End = firstAt(f.To)
	}
	if f.Before != 0 {
		s.in.End = min(s.in.End, int64(f.Before))
	}
	if f.After != 0 {
		s.in.First = max(s.in.First, int64(f.After)+1)
	}
	s.slots = slotsOf(f)
	return s
}

// slotsOf lists what the slots of a filter's calls have.
func slotsOf(f Filter) (list []slotValue) {
	for _, s := range []struct {
		asked bool
		slotValue
	}{
		{f.Workspace != 0, slotValue{kindWorkspace, f.Workspace}},
		{f.Key != 0, slotValue{kindKey, f.Key}},
		{f.Item != 0, slotValue{kindItem, f.Item}},
		{f.Endpoint != "", slotValue{kindEndpoint, hash(f.Endpoint)}},
		{f.Reason != "", slotValue{kindReason, hash(f.Reason)}},
		{f.Address != "", slotValue{kindAddress, hash(f.Address)}},
		{f.Result == Valid, slotValue{kindResult, valueValid}},
		{f.Result == Failed, slotValue{kindResult, valueFailed}},
	} {
		if s.asked {
			list = append(list, s.slotValue)
		}
	}
	return list
}

// run fills the page, part by part.
func (s *search) run(ctx context.Context) error {
	parts, err := s.db.Parts(ctx, timeOf)
	if err != nil {
		return err
	}
	if !s.in.Up {
		slices.Reverse(parts)
	}
	for _, p := range parts {
		in := s.in
		in.First, in.End = max(in.First, p.First), min(in.End, p.End)
		if in.First >= in.End {
			continue
		}
		if full, err := s.part(ctx, p, in); full || err != nil {
			return err
		}
	}
	return nil
}

// part searches a part. It reports whether the search is over.
func (s *search) part(ctx context.Context, p requestdb.Part, in requestdb.Range) (over bool, err error) {
	if len(s.slots) == 0 {
		return s.within(ctx, p, in)
	}
	slots, err := s.common(ctx, p)
	if err != nil {
		return false, err
	}
	if !in.Up {
		slices.Reverse(slots)
	}
	for _, slot := range slots {
		some := in
		some.First, some.End = max(in.First, slot), min(in.End, slotEnd(slot))
		if some.First >= some.End {
			continue
		}
		if over, err := s.within(ctx, p, some); over || err != nil {
			return over, err
		}
	}
	return false, nil
}

// common lists the slots of a part that have all that is searched for.
func (s *search) common(ctx context.Context, p requestdb.Part) (slots []int64, err error) {
	for i, v := range s.slots {
		list, err := s.db.Slots(ctx, p, v.kind, v.value)
		if err != nil || len(list) == 0 {
			return nil, err
		}
		if i == 0 {
			slots = list
			continue
		}
		slots = slices.DeleteFunc(slots, func(slot int64) bool {
			_, there := slices.BinarySearch(list, slot)
			return !there
		})
	}
	return slots, nil
}

// within searches a range of a part. It reports whether the search is over.
func (s *search) within(ctx context.Context, p requestdb.Part, in requestdb.Range) (over bool, err error) {
	found, last, examined, err := s.db.Calls(ctx, p, in, s.match, s.left, s.limit-len(s.page.Calls))
	if err != nil {
		return false, err
	}
	for _, c := range found {
		s.page.Calls = append(s.page.Calls, callOf(c))
	}
	s.left -= examined + slotCost
	switch {
	case last != 0:
		s.page.Next = requestid.Number(last)
	case s.left <= 0 && in.Up:
		s.page.Next = requestid.Number(in.End - 1)
	case s.left <= 0:
		s.page.Next = requestid.Number(in.First)
	}
	return s.page.Next != 0, nil
}

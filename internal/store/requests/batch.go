package requests

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/requestid"
	"github.com/countersign/countersign/internal/store/requestdb"
)

// What a slot is about.
const (
	kindWorkspace int64 = iota + 1
	kindKey
	kindItem
	kindEndpoint
	kindReason
	kindAddress
	kindResult
)

// The values of kindResult.
const (
	valueValid int64 = iota
	valueFailed
)

// slotMillis is how long a slot is, in milliseconds: about two minutes. A power of two makes
// its beginning a matter of bits.
const slotMillis = 1 << 17

// maxSlots is how many slots are remembered, so that each is written once.
const maxSlots = 1 << 17

// How long counts are gathered: few are written with their calls, many when they are many
// more or some time has passed, because most calls of a busy store count for something else
// than the one before.
const (
	fewCounts    = 512
	manyCounts   = 1 << 17
	countsAtOnce = 1 << 13
	countsEvery  = 10 * time.Second
)

// batch writes entries. It remembers what a next batch need not write again.
type batch struct {
	counts   map[requestdb.Count]int64 // that are not written, by all but the number
	countsAt time.Time                 // when they were written last
	slots    map[requestdb.Slot]struct{}
	fresh    []requestdb.Slot // those of this batch that were not known
}

func newBatch() batch {
	return batch{counts: make(map[requestdb.Count]int64), slots: make(map[requestdb.Slot]struct{})}
}

// forget drops what is remembered, after a transaction that may not have happened.
func (b *batch) forget() { clear(b.slots) }

// count counts entries, once.
func (b *batch) count(entries []Entry) {
	for i := range entries {
		e := &entries[i]
		b.counts[requestdb.Count{WorkspaceID: e.Workspace, Hour: hourOf(e.Number.Time()), ItemID: e.Item, KeyID: e.Key, Result: e.Reason}]++
	}
}

// dueCounts returns the counts that are to be written now, in the order in which every server
// writes them: so many that the transaction does not take long. all asks for those that could
// still wait.
func (b *batch) dueCounts(now time.Time, all bool) []requestdb.Count {
	n := len(b.counts)
	if n > fewCounts && n < manyCounts && now.Sub(b.countsAt) < countsEvery && !all {
		return nil
	}
	list := make([]requestdb.Count, 0, min(n, countsAtOnce))
	for c, n := range b.counts {
		if len(list) == countsAtOnce {
			break
		}
		c.Calls = n
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b requestdb.Count) int {
		return cmp.Or(cmp.Compare(a.WorkspaceID, b.WorkspaceID), cmp.Compare(a.Hour, b.Hour), cmp.Compare(a.ItemID, b.ItemID),
			cmp.Compare(a.KeyID, b.KeyID), cmp.Compare(a.Result, b.Result))
	})
	return list
}

// counted notes that counts were written.
func (b *batch) counted(list []requestdb.Count, now time.Time) {
	for _, c := range list {
		c.Calls = 0
		delete(b.counts, c)
	}
	if len(b.counts) == 0 {
		b.countsAt = now
	}
}

// write adds entries to their parts.
func (b *batch) write(ctx context.Context, tx *requestdb.DB, entries []Entry) error {
	if len(entries) == 0 {
		return nil
	}
	parts, err := tx.Parts(ctx, timeOf)
	if err != nil {
		return err
	}
	for len(entries) > 0 {
		var part requestdb.Part
		if part, parts, err = partOf(ctx, tx, parts, int64(entries[0].Number)); err != nil {
			return err
		}
		some := entries[:1]
		for len(some) < len(entries) && part.Has(int64(entries[len(some)].Number)) {
			some = entries[:len(some)+1]
		}
		if err := b.writeTo(ctx, tx, part, some); err != nil {
			return err
		}
		entries = entries[len(some):]
	}
	return nil
}

// writeTo adds entries of one part.
func (b *batch) writeTo(ctx context.Context, tx *requestdb.DB, part requestdb.Part, entries []Entry) error {
	b.fresh = b.fresh[:0]
	if len(b.slots) > maxSlots {
		clear(b.slots)
	}
	err := tx.AddCalls(ctx, part, len(entries), func(i int) requestdb.Call {
		c := entries[i].row()
		b.note(part, &c)
		return c
	})
	if err != nil {
		return err
	}
	return tx.AddSlots(ctx, part, b.fresh)
}

// note notes the slots of a call.
func (b *batch) note(part requestdb.Part, c *requestdb.Call) {
	slot := max(slotOf(c.ID), part.First)
	add := func(kind, value int64) {
		s := requestdb.Slot{Kind: kind, Value: value, Slot: slot}
		if _, known := b.slots[s]; !known {
			b.slots[s] = struct{}{}
			b.fresh = append(b.fresh, s)
		}
	}
	add(kindWorkspace, c.WorkspaceID)
	add(kindKey, c.KeyID)
	add(kindItem, c.ItemID)
	add(kindEndpoint, hash(c.Endpoint))
	add(kindAddress, hash(c.Address))
	if c.Reason == "" {
		add(kindResult, valueValid)
		return
	}
	add(kindResult, valueFailed)
	add(kindReason, hash(c.Reason))
}

// timeOf returns the time that an id stands for.
func timeOf(id int64) time.Time { return requestid.Number(id).Time() }

// firstAt returns the smallest id of a time.
func firstAt(at time.Time) int64 { return int64(requestid.First(at)) }

// slotOf returns the first id of the slot in which an id is.
func slotOf(id int64) int64 {
	return firstAt(time.UnixMilli(timeOf(id).UnixMilli() &^ (slotMillis - 1)))
}

// slotEnd returns the first id after the slot in which an id is.
func slotEnd(id int64) int64 { return firstAt(timeOf(slotOf(id)).Add(slotMillis * time.Millisecond)) }

func hourOf(at time.Time) int64 { return at.Unix() / 3600 }

// hash returns a number for a text, always the same one (FNV-1a).
func hash(text string) int64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return int64(h)
}

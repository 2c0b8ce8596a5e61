package web

import (
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/limit"
)

// What responses of a listener may hold together. An address has a quarter of it.
const (
	// maxRequests is how many requests of HTTP/2 are in progress. Those of HTTP/1 have a connection each.
	maxRequests = 512
	// maxUnsent is how many bytes of responses wait to be sent.
	maxUnsent = 8 << 20
	// maxCounted is how many of them one response counts for at most.
	maxCounted = 1 << 20
	// smallWrite is how many bytes of a response are not counted. Pieces of a file are not larger.
	smallWrite = 32 << 10
	// largeChunk is how many bytes of a large response of HTTP/1 are passed on at once.
	largeChunk = 64 << 10
	// breakGrace is how long a request that was broken off may take to end before its connection is closed.
	breakGrace = time.Second
)

var errBrokenOff = errors.New("web: the client neither sends the request nor reads the response")

// A load is what requests hold.
type load struct{ requests, bytes int }

func (l load) plus(o load) load      { return load{l.requests + o.requests, l.bytes + o.bytes} }
func (l load) minus(o load) load     { return load{l.requests - o.requests, l.bytes - o.bytes} }
func (l load) within(most load) bool { return l.requests <= most.requests && l.bytes <= most.bytes }
func (l load) times(n, of int) load  { return load{l.requests * n / of, l.bytes * n / of} }

// A tally is the load of some requests, and the part of those that were broken off and have not ended.
type tally struct{ all, broken load }

func (t *tally) intact() load { return t.all.minus(t.broken) }

// An address ([limit.Network]) has responses that are being sent.
type address struct {
	tally
	key    netip.Prefix
	exempt bool // from the quarter
}

// A delivery is a response that is being sent to a client, which may not read it. The request of HTTP/2 is a part of it, which
// the client may not send to its end.
type delivery struct {
	conn   *conn
	stream *stream // nil for HTTP/1
	// deliveries.mu guards what follows.
	load    load
	address *address
	waiting bool // a read of the request or a write is under way
	broken  bool
	place   links[delivery]
}

// deliveries are the responses of a listener that hold much: those of HTTP/2, and large ones of HTTP/1. When they hold
// too much, that one of the address that holds most is broken off whose client did nothing longest.
type deliveries struct {
	most   load
	exempt []netip.Prefix // networks whose addresses have no quarter
	note   func(reason)

	mu        sync.Mutex
	total     tally
	addresses map[netip.Prefix]*address
	waiting   chain[delivery]
}

func newDeliveries(most load, exempt []netip.Prefix, note func(reason)) *deliveries {
	return &deliveries{
		most: most, exempt: unmapped(exempt), note: note, addresses: map[netip.Prefix]*address{},
		waiting: chain[delivery]{link: func(d *delivery) *links[delivery] { return &d.place }},
	}
}

// add counts more for one, for which others are broken off if it may. It returns false without room, and for one
// that was broken off itself.
func (d *deliveries) add(one *delivery, more load, mayBreak bool) bool {
	d.mu.Lock()
	if one.broken {
		d.mu.Unlock()
		return false
	}
	if one.address == nil {
		one.address = d.addressOf(one.conn.peer)
	}
	fits := d.makeRoom(one.address, more, mayBreak)
	if fits {
		d.count(one, more)
	} else {
		d.forget(one)
	}
	d.mu.Unlock()
	if !fits {
		d.note(reasonRefused)
	}
	return fits
}

// subtract takes back what add counted.
func (d *deliveries) subtract(one *delivery, less load) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.count(one, load{}.minus(less))
	d.forget(one)
}

func (d *deliveries) addressOf(peer netip.Addr) *address {
	key := limit.Network(peer)
	a := d.addresses[key]
	if a == nil {
		a = &address{key: key, exempt: contains(d.exempt, peer)}
		d.addresses[key] = a
	}
	return a
}

func (d *deliveries) count(one *delivery, more load) {
	one.load = one.load.plus(more)
	for _, t := range [...]*tally{&one.address.tally, &d.total} {
		t.all = t.all.plus(more)
		if one.broken {
			t.broken = t.broken.plus(more)
		}
	}
}

// forget leaves nothing of an address that holds nothing.
func (d *deliveries) forget(one *delivery) {
	if one.address.all == (load{}) {
		delete(d.addresses, one.address.key)
	}
	if one.load == (load{}) {
		one.address = nil
	}
}

// makeRoom breaks responses off until there is room for more of an address. Those that were broken off end a little
// later: until then there may be twice as much.
func (d *deliveries) makeRoom(own *address, more load, mayBreak bool) bool {
	if !d.total.all.plus(more).within(d.most.times(2, 1)) {
		return false
	}
	for quarter := d.most.times(1, 4); !own.exempt && !own.intact().plus(more).within(quarter); {
		if !mayBreak || !d.breakLongest(own, false, more) {
			return false
		}
	}
	for !d.total.intact().plus(more).within(d.most) {
		if !mayBreak || !d.breakLongest(own, true, more) {
			return false
		}
	}
	return true
}

// breakLongest breaks off the response of which nothing was taken longest: of the address itself, or of the one that holds
// most, which must be more than the address would hold then. Else those that hold as much would take from each other.
func (d *deliveries) breakLongest(own *address, all bool, more load) bool {
	amount := func(l load) int {
		if more.bytes > 0 {
			return l.bytes
		}
		return l.requests
	}
	var found *delivery
	for one := d.waiting.first; one != nil; one = one.place.next {
		if amount(one.load) > 0 && (all || one.address == own) &&
			(found == nil || amount(one.address.intact()) > amount(found.address.intact())) {
			found = one
		}
	}
	held := amount(own.intact())
	if found == nil || all && held > 0 && amount(found.address.intact()) <= held+amount(more) {
		return false
	}
	why := reasonAddress
	if all {
		why = reasonAll
	}
	d.breakOff(found, why)
	return true
}

// breakOff ends a response whose client is waited for.
func (d *deliveries) breakOff(one *delivery, why reason) {
	d.leave(one)
	one.broken = true
	one.address.broken, d.total.broken = one.address.broken.plus(one.load), d.total.broken.plus(one.load)
	time.AfterFunc(0, func() { // writes of others do not wait for it
		d.note(why)
		one.end()
		if one.stream != nil {
			time.AfterFunc(breakGrace, func() { d.endLate(one) })
		}
	})
}

// endLate closes the connection of a request that has not ended although it was broken off: its client reads nothing.
func (d *deliveries) endLate(one *delivery) {
	d.mu.Lock()
	late := one.load.requests > 0
	d.mu.Unlock()
	if late {
		one.conn.discard()
	}
}

// wait calls a read or a write, which waits for the client.
func (d *deliveries) wait(one *delivery, call func() error) error {
	if !d.enter(one) {
		return errBrokenOff
	}
	err := call()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.leave(one)
	return err
}

// enter notes that a read or a write begins. It returns false for a response that was broken off.
func (d *deliveries) enter(one *delivery) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !one.broken {
		one.waiting = true
		d.waiting.push(one)
	}
	return !one.broken
}

func (d *deliveries) leave(one *delivery) {
	if one.waiting {
		one.waiting = false
		d.waiting.remove(one)
	}
}

// held returns what the responses hold.
func (d *deliveries) held() load {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.total.all
}

// end makes the read or write that is under way fail.
func (one *delivery) end() {
	if one.stream != nil {
		one.stream.reset()
		return
	}
	one.conn.discard()
}

// writeLarge sends a large part of a response of HTTP/1.
func (c *conn) writeLarge(w http.ResponseWriter, b []byte) (done int, err error) {
	d, bytes := c.slots.deliveries, load{bytes: min(len(b), maxCounted)}
	if !d.add(&c.delivery, bytes, true) {
		c.discard()
		return 0, errBrokenOff
	}
	defer d.subtract(&c.delivery, bytes)
	for piece := range slices.Chunk(b, largeChunk) {
		err = d.wait(&c.delivery, func() error {
			n, err := w.Write(piece)
			done += n
			return err
		})
		if err != nil {
			break
		}
	}
	return done, err
}

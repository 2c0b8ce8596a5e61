package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

const (
	silentPurchases = 10_000
	silentTurn      = 5 * time.Second
	// leastKept is the share of their rate that valid requests keep beside the crowd.
	leastKept = 0.90
	// newcomerEvery is how often a new connection sends one valid request meanwhile.
	newcomerEvery = 50 * time.Millisecond
)

// besideCrowd compares valid requests beside the crowd with those without it.
type besideCrowd struct {
	Engine string `json:"engine"`
	// Kept is the median of the rates beside the crowd to those without it.
	Kept float64 `json:"kept"`
	// KeptOfTime is the median of the processor time for each valid request without the
	// crowd to that beside it. The time is the store's, the harness's and the crowd's. This
	// is what is kept when all processors are busy with nothing else.
	KeptOfTime float64                `json:"kept_of_processor_time"`
	Pairs      []measured[silentPair] `json:"pairs"`
	LeftOut    []measured[silentPair] `json:"left_out,omitempty"`
}

// silentPair is one turn beside the crowd and one without it, alternately the first.
type silentPair struct {
	Kept       float64 `json:"kept"`
	KeptOfTime float64 `json:"kept_of_processor_time"`
	Beside     figures `json:"beside"`
	Without    figures `json:"without"`
	Opened     int64   `json:"silent_opened"`
	Closed     int64   `json:"silent_closed_by_server"`
	Requests   int64   `json:"unread_requests,omitempty"`
	// Anonymous is the most memory that the store used beside the crowd, in bytes.
	Anonymous int64 `json:"anonymous_bytes"`
	Newcomers int   `json:"newcomers"`
	// Longest is the time of the slowest newcomer, from its connection to its response.
	Longest time.Duration `json:"longest_newcomer_ns"`
}

// besideSilent measures valid requests beside silent connections, and then beside those that do not read.
func (s *shop) besideSilent(ctx context.Context, log io.Writer) (both besideCrowds, err error) {
	both.Silent, err = s.crowdPairs(ctx, log, func(ctx context.Context, address string) (*crowd, error) {
		kinds := hostileKinds(valid(0))
		return gather(ctx, address, hostileConnections, hostilePace, func(c *crowd, ctx context.Context, i int, conn net.Conn, begun func()) {
			c.keep(ctx, conn, kinds[i%len(kinds)], begun)
		})
	})
	if err == nil {
		both.Unread, err = s.besideUnread(ctx, log)
	}
	return both, err
}

// besideCrowds is the outcome for both crowds.
type besideCrowds struct {
	Silent besideCrowd  `json:"silent"`
	Unread besideUnread `json:"unread"`
}

func (b besideCrowds) print(out io.Writer) {
	b.Silent.print(out)
	b.Unread.print(out)
}

func (b besideCrowds) missed() error { return errors.Join(b.Silent.missed(), b.Unread.missed()) }

// A gathering opens the connections of a crowd to an address.
type gathering func(ctx context.Context, address string) (*crowd, error)

// crowdPairs measures the rate of valid requests beside a crowd and without it, in paired turns.
func (s *shop) crowdPairs(ctx context.Context, log io.Writer, gather gathering, serve ...string) (besideCrowd, error) {
	// A garbage collection reads the stacks of the whole crowd, which would slow the requests down.
	defer debug.SetGCPercent(debug.SetGCPercent(2000))
	store, err := s.serve(ctx, serve...)
	if err != nil {
		return besideCrowd{}, err
	}
	defer store.stop()
	if _, err := s.silentTurn(ctx, store); err != nil { // one that does not count
		return besideCrowd{}, err
	}
	counted, leftOut, err := repeat(s.settings.rounds, func(i int) (silentPair, error) {
		p, err := s.silentPair(ctx, store, gather, i%2 == 0)
		fmt.Fprintf(log, "beside %.0f/s (%s of processor time each), without %.0f/s (%s): %.3f (%.3f); %d silent ones opened, %d closed by the store; %d newcomers, at most %s; %d unread requests; %d MB\n",
			p.Beside.PerSecond, p.Beside.CPU, p.Without.PerSecond, p.Without.CPU, p.Kept, p.KeptOfTime, p.Opened, p.Closed, p.Newcomers, p.Longest.Round(time.Millisecond), p.Requests, p.Anonymous>>20)
		return p, err
	})
	return besideCrowd{
		Engine: s.settings.engine(), Pairs: counted, LeftOut: leftOut,
		Kept:       quantileOf(counted, median, func(p silentPair) float64 { return p.Kept }),
		KeptOfTime: quantileOf(counted, median, func(p silentPair) float64 { return p.KeptOfTime }),
	}, err
}

// silentPair takes one pair of turns.
func (s *shop) silentPair(ctx context.Context, store *process, gather gathering, crowdFirst bool) (p silentPair, err error) {
	if crowdFirst {
		err = s.crowdTurn(ctx, store, gather, &p)
	}
	if err == nil {
		p.Without, err = s.silentTurn(ctx, store)
	}
	if err == nil && !crowdFirst {
		err = s.crowdTurn(ctx, store, gather, &p)
	}
	p.Kept, p.KeptOfTime = p.Beside.PerSecond/p.Without.PerSecond, float64(p.Without.CPU)/float64(max(1, p.Beside.CPU))
	return p, err
}

// crowdTurn is a turn beside the crowd.
func (s *shop) crowdTurn(ctx context.Context, store *process, gather gathering, p *silentPair) error {
	measuring, end := context.WithCancel(ctx)
	defer end()
	memory := make(chan error, 1)
	go func() {
		most, err := memoryOf(measuring, store.command.Process.Pid)
		p.Anonymous = most
		memory <- err
	}()
	crowd, err := gather(ctx, store.address)
	if err != nil {
		return err
	}
	defer crowd.disperse()
	if _, err := answerOf(store.address, valid(0)); err != nil { // waits for all that connected before
		return err
	}
	newcomers := make(chan error, 1)
	go func() { newcomers <- p.sendNew(store.address, s.settings.turn) }()
	p.Beside, err = s.silentTurn(ctx, store)
	end()
	err = errors.Join(err, <-newcomers, <-memory)
	p.Opened, p.Closed, p.Requests = crowd.opened.Load(), crowd.closed.Load(), crowd.requests.Load()
	return err
}

// silentTurn is one turn of valid requests. Its processor time is that of store and
// harness: the store is a child of this process.
func (s *shop) silentTurn(ctx context.Context, store *process) (figures, error) {
	next := func(r *rand.Rand) (request, bool) { return valid(r.IntN(silentPurchases)), true }
	return turn(ctx, store.address, func() (usage, error) { return usageOf(os.Getpid()) }, s.settings.turn, 0, next, true)
}

// sendNew opens a connection of its own for one valid request, again and again for a turn.
func (p *silentPair) sendNew(address string, turn time.Duration) error {
	tick := time.NewTicker(newcomerEvery)
	defer tick.Stop()
	for end := time.Now().Add(turn); time.Now().Before(end); <-tick.C {
		began := time.Now()
		if _, err := answerOf(address, valid(1)); err != nil {
			return err
		}
		p.Newcomers++
		p.Longest = max(p.Longest, time.Since(began))
	}
	return nil
}

func (b besideCrowd) print(out io.Writer) {
	fmt.Fprintf(out, "\n%s, valid requests beside %d silent and slow connections from %d addresses (closed ones opened again, %d a second): they keep %.3f of their rate without them (at least %.2f), %.3f by processor time, medians of %d pairs of turns\n",
		b.Engine, hostileConnections, hostileAddresses, hostilePace, b.Kept, leastKept, b.KeptOfTime, len(b.Pairs))
}

func (b besideCrowd) missed() error {
	if b.Kept < leastKept {
		return fmt.Errorf("valid requests keep %.3f of their rate beside silent connections, at least %.2f expected", b.Kept, leastKept)
	}
	return nil
}

// The crowd of connections that send no complete request. They come from hostileAddresses addresses, 127.0.0.2 and
// those that follow. What the server closes is opened again, all of them together at most hostilePace times a second:
// without a bound the harness would measure how fast this machine opens connections.
const (
	hostileConnections = 9900
	hostileAddresses   = 63
	hostilePace        = 500
	// dripEvery is how often a slow connection sends a byte.
	dripEvery = 5 * time.Second
)

// A hostileKind is one way to hold a connection without a complete request.
type hostileKind struct {
	opening []byte // sent at once
	drip    []byte // sent every few seconds; nil is nothing
	answer  bool   // the opening is a request, whose answer is read
}

// hostileKinds take turns.
func hostileKinds(complete request) []hostileKind {
	const head = "POST /api/purchases/validation HTTP/1.1\r\nHost: localhost\r\n"
	return []hostileKind{
		{},
		{opening: []byte(head + "X: "), drip: []byte("x")},
		{opening: []byte(head + "Content-Length: 1000\r\n\r\n"), drip: []byte("x")},
		{opening: complete.bytes, answer: true},
	}
}

// A crowd is the hostile connections to one server.
type crowd struct {
	host string
	// keepOne holds an open connection until the server closes it. begun is called when it is as it should be.
	keepOne func(c *crowd, ctx context.Context, i int, conn net.Conn, begun func())
	pace    *time.Ticker
	end     context.CancelFunc
	all     sync.WaitGroup

	opened, closed, requests atomic.Int64
}

// gather opens all connections once, as fast as they are accepted, and goes on to open again what is closed.
func gather(ctx context.Context, address string, connections, pace int, keep func(c *crowd, ctx context.Context, i int, conn net.Conn, begun func())) (*crowd, error) {
	ctx, end := context.WithCancel(ctx)
	c := &crowd{host: hostOf(address), keepOne: keep, pace: time.NewTicker(time.Second / time.Duration(pace)), end: end}
	var first sync.WaitGroup
	first.Add(connections)
	for i := range connections {
		c.all.Go(func() { c.hold(ctx, i, sync.OnceFunc(first.Done)) })
	}
	first.Wait()
	if n := c.opened.Load(); n < int64(connections)*9/10 {
		c.disperse()
		return nil, fmt.Errorf("only %d of %d hostile connections could be opened: the hard limit of file descriptors must be %d (ulimit -Hn)", n, connections, hostileConnections+300)
	}
	return c, ctx.Err()
}

// disperse closes all connections.
func (c *crowd) disperse() {
	c.end()
	c.all.Wait()
	c.pace.Stop()
}

// hold keeps one place of the crowd taken. tried is called when it was tried once.
func (c *crowd) hold(ctx context.Context, i int, tried func()) {
	defer tried()
	from := &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+i%hostileAddresses))}
	d := net.Dialer{LocalAddr: from, Timeout: 5 * time.Second}
	for ctx.Err() == nil {
		conn, err := d.DialContext(ctx, "tcp", c.host)
		if err == nil {
			c.opened.Add(1)
			c.keepOne(c, ctx, i, conn, tried)
		}
		tried()
		select {
		case <-c.pace.C:
		case <-ctx.Done():
		}
	}
}

// keep holds a connection until the server closes it. It is reset at the end: closed ones would go on to hold ports.
func (c *crowd) keep(ctx context.Context, conn net.Conn, kind hostileKind, begun func()) {
	_ = conn.(*net.TCPConn).SetLinger(0)
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer func() { stop(); _ = conn.Close() }()
	if _, err := conn.Write(kind.opening); err != nil {
		return
	}
	if kind.answer {
		if _, _, err := readAnswer(bufio.NewReaderSize(conn, 2<<10), nil); err != nil {
			return
		}
	}
	begun()
	for one := make([]byte, 512); ; {
		if kind.drip != nil {
			_ = conn.SetReadDeadline(time.Now().Add(dripEvery))
		}
		_, err := conn.Read(one)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			_, err = conn.Write(kind.drip)
		}
		if err != nil {
			if ctx.Err() == nil {
				c.closed.Add(1)
			}
			return
		}
	}
}

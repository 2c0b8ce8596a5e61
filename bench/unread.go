package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// The crowd of connections of HTTP/2 whose clients do not read a byte of any response. What the store breaks off or
// refuses is sent again, all of them together at most unreadPace times a second: the harness works for these requests
// as much as the store, and takes that from the valid ones.
const (
	unreadPace        = 100
	unreadConnections = 200
	unreadStreams     = 100
	// mostUnread is how much anonymous memory the store may use beside them, in bytes.
	mostUnread = 200 << 20
	// sampleMemoryEvery is how often that is read.
	sampleMemoryEvery = 100 * time.Millisecond
)

// unreadPaths are large pages, a response that is the same for all, and a small page.
var unreadPaths = []string{"/docs/store", "/openapi.json", "/docs/addon-reference", "/"}

// besideUnread compares valid requests beside that crowd with those without it.
type besideUnread struct {
	besideCrowd
	// Anonymous is the most memory that the store used beside the crowd, in bytes.
	Anonymous int64 `json:"anonymous_bytes"`
}

// besideUnread measures the rate of valid requests over HTTPS and the memory of the store beside the crowd.
func (s *shop) besideUnread(ctx context.Context, log io.Writer) (b besideUnread, err error) {
	flags, err := s.certificate()
	if err != nil {
		return b, err
	}
	b.besideCrowd, err = s.crowdPairs(ctx, log, func(ctx context.Context, address string) (*crowd, error) {
		return gather(ctx, address, unreadConnections, unreadPace, (*crowd).keepUnread)
	}, flags...)
	for _, p := range b.Pairs {
		b.Anonymous = max(b.Anonymous, p.Value.Anonymous)
	}
	return b, err
}

func (b besideUnread) print(out io.Writer) {
	fmt.Fprintf(out, "\n%s, valid requests beside %d connections of HTTP/2 with %d responses each that are not read: they keep %.3f of their rate without them (at least %.2f), %.3f by processor time, medians of %d pairs of turns; the store used at most %d MB (at most %d)\n",
		b.Engine, unreadConnections, unreadStreams, b.Kept, leastKept, b.KeptOfTime, len(b.Pairs), b.Anonymous>>20, mostUnread>>20)
}

func (b besideUnread) missed() error {
	err := b.besideCrowd.missed()
	if b.Anonymous > mostUnread {
		err = errors.Join(err, fmt.Errorf("the store used %d MB of anonymous memory beside responses that are not read, at most %d expected", b.Anonymous>>20, mostUnread>>20))
	}
	return err
}

// An unreadConn is a connection of that crowd.
type unreadConn struct {
	*http2.Framer
	crowd *crowd
	begun func()
	left  int           // requests of the first whose responses have not begun
	ended chan struct{} // one for each request that has ended and is to be sent again

	writing sync.Mutex // guards what follows, and writes
	header  bytes.Buffer
	coder   *hpack.Encoder
	next    uint32
}

// keepUnread holds a connection with requests until the server closes it.
func (c *crowd) keepUnread(ctx context.Context, i int, raw net.Conn, begun func()) {
	_ = raw.(*net.TCPConn).SetLinger(0)
	conn := tls.Client(raw, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer func() { stop(); _ = raw.Close() }()
	u := &unreadConn{Framer: http2.NewFramer(conn, conn), crowd: c, begun: begun, left: unreadStreams, ended: make(chan struct{}, unreadStreams), next: 1}
	u.coder = hpack.NewEncoder(&u.header)
	_, err := io.WriteString(conn, http2.ClientPreface)
	if err == nil {
		err = u.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	}
	for range unreadStreams {
		if err == nil {
			err = u.request()
		}
	}
	c.all.Go(func() { u.sendAgain(ctx) })
	for err == nil {
		err = u.answer()
	}
	close(u.ended)
	begun()
	if ctx.Err() == nil {
		c.closed.Add(1)
	}
}

// request sends one.
func (u *unreadConn) request() error {
	u.writing.Lock()
	defer u.writing.Unlock()
	u.header.Reset()
	path := unreadPaths[int(u.next/2)%len(unreadPaths)]
	for _, f := range [][2]string{{":method", "GET"}, {":scheme", "https"}, {":authority", "localhost"}, {":path", path}} {
		_ = u.coder.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]}) // writing to memory does not fail
	}
	err := u.WriteHeaders(http2.HeadersFrameParam{StreamID: u.next, BlockFragment: u.header.Bytes(), EndStream: true, EndHeaders: true})
	u.next += 2
	u.crowd.requests.Add(1)
	return err
}

// answer reads a frame and does what keeps the connection open.
func (u *unreadConn) answer() error {
	f, err := u.ReadFrame()
	if err != nil {
		return err
	}
	switch f := f.(type) {
	case *http2.SettingsFrame:
		if !f.IsAck() {
			u.writing.Lock()
			defer u.writing.Unlock()
			return u.WriteSettingsAck()
		}
	case *http2.PingFrame:
		u.writing.Lock()
		defer u.writing.Unlock()
		return u.WritePing(true, f.Data)
	case *http2.RSTStreamFrame:
		u.responded(true)
	case *http2.HeadersFrame:
		u.responded(f.StreamEnded())
	}
	return nil
}

// responded notes that the response to a request begins, or that the request has ended.
func (u *unreadConn) responded(ended bool) {
	if u.left--; u.left == 0 {
		u.begun()
	}
	if ended {
		select {
		case u.ended <- struct{}{}:
		default: // as many wait to be sent as the connection holds
		}
	}
}

// sendAgain sends a request in place of each that has ended, until the connection is closed.
func (u *unreadConn) sendAgain(ctx context.Context) {
	for range u.ended {
		select {
		case <-u.crowd.pace.C:
			if u.request() != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// memoryOf reads the anonymous memory of a process until ctx ends, and returns the most.
func memoryOf(ctx context.Context, process int) (most int64, err error) {
	store, err := procfs.NewProc(process)
	if err != nil {
		return 0, err
	}
	tick := time.NewTicker(sampleMemoryEvery)
	defer tick.Stop()
	for {
		status, err := store.NewStatus()
		if most = max(most, int64(status.RssAnon)); err != nil {
			return most, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return most, nil
		}
	}
}

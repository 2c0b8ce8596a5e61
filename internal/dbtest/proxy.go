package dbtest

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Proxy stands between a test and its PostgreSQL database and can take the
// server away.
type Proxy struct {
	// URL of the database through the proxy.
	URL string

	t        testing.TB
	network  string // of the server
	server   string // its address
	address  string // of the proxy
	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
	frozen   chan struct{} // closed when bytes may pass
	deaf     bool          // notifications do not pass
	accepted int
}

// NewProxy puts a proxy before a PostgreSQL database. It is reachable at once.
func NewProxy(t testing.TB, db DB) *Proxy {
	t.Helper()
	config, err := pgx.ParseConfig(db.URL)
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	port := strconv.Itoa(int(config.Port))
	p := &Proxy{t: t, network: "tcp", server: net.JoinHostPort(config.Host, port), address: lonely(), frozen: make(chan struct{})}
	close(p.frozen)
	if strings.HasPrefix(config.Host, "/") {
		p.network, p.server = "unix", config.Host+"/.s.PGSQL."+port
	}
	p.Restore()
	t.Cleanup(p.Cut)
	u, err := url.Parse(db.URL)
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	query := u.Query()
	query.Del("host")
	query.Del("port")
	query.Set("sslmode", "disable") // so that it can read along
	u.Host, u.RawQuery = p.address, query.Encode()
	p.URL = u.String()
	return p
}

// lonely is a place on this machine where nobody else looks for a free port: it has
// to be free still when the server comes back. Only Linux has all of 127.0.0.0/8.
func lonely() string {
	random := make([]byte, 2)
	rand.Read(random) // never returns an error
	address := fmt.Sprintf("127.77.%d.%d:0", random[0], random[1])
	if listener, err := net.Listen("tcp", address); err != nil || listener.Close() != nil {
		return "127.0.0.1:0"
	}
	return address
}

// Cut ends all connections and refuses new ones, as a server that has gone.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		p.listener.Close()
		p.listener = nil
	}
	for conn := range p.conns {
		conn.Close()
	}
	p.conns = nil
	p.thaw()
}

// Freeze keeps all connections but lets nothing pass, as a network that has gone.
func (p *Proxy) Freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.thaw()
	p.frozen = make(chan struct{})
}

// Break ends all connections and lets new ones in, as a network that was away.
func (p *Proxy) Break() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		conn.Close()
	}
	clear(p.conns)
}

// Deafen keeps notifications of the server to itself and lets all else pass, as a
// pooler in transaction mode does.
func (p *Proxy) Deafen() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaf = true
}

// Accepted counts the connections that were made so far.
func (p *Proxy) Accepted() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accepted
}

// Restore ends what Cut, Freeze or Deafen began.
func (p *Proxy) Restore() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.thaw()
	p.deaf = false
	if p.listener != nil {
		return
	}
	listener, err := net.Listen("tcp", p.address)
	if err != nil {
		p.t.Fatalf("dbtest: %v", err)
	}
	p.listener, p.address = listener, listener.Addr().String()
	p.conns = make(map[net.Conn]bool)
	go p.accept(listener)
}

func (p *Proxy) thaw() {
	select {
	case <-p.frozen:
	default:
		close(p.frozen)
	}
}

func (p *Proxy) accept(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial(p.network, p.server)
		if err != nil {
			client.Close()
			continue
		}
		if !p.track(listener, client, server) {
			client.Close()
			server.Close()
			return
		}
		go p.forwardMessages(client, server)
		go p.forward(server, client)
	}
}

// track notes the two ends of a connection, unless the proxy was cut meanwhile.
func (p *Proxy) track(listener net.Listener, ends ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != listener {
		return false
	}
	p.accepted++
	for _, end := range ends {
		p.conns[end] = true
	}
	return true
}

// forget closes one end of a connection.
func (p *Proxy) forget(end net.Conn) {
	end.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, end)
}

// forward passes bytes on, and the end of one side to the other.
func (p *Proxy) forward(to, from net.Conn) {
	defer p.forget(to)
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		pass := p.frozen
		p.mu.Unlock()
		<-pass
		if _, failed := to.Write(buffer[:n]); failed != nil || err != nil {
			return
		}
	}
}

// notification is the first byte of a message of the server that is one.
const notification = 'A'

// forwardMessages passes on what the server says, message by message: a byte for its
// kind, its length in four bytes that count themselves, and its content.
func (p *Proxy) forwardMessages(to, from net.Conn) {
	defer p.forget(to)
	in, out := bufio.NewReaderSize(from, 32<<10), bufio.NewWriterSize(to, 32<<10)
	for {
		head, err := in.Peek(5)
		if err != nil {
			return
		}
		kind, size := head[0], 1+int64(binary.BigEndian.Uint32(head[1:]))
		p.mu.Lock()
		pass, deaf := p.frozen, p.deaf
		p.mu.Unlock()
		<-pass
		if kind == notification && deaf {
			_, err = in.Discard(int(size))
		} else {
			_, err = io.CopyN(out, in, size)
		}
		if err == nil && in.Buffered() == 0 {
			err = out.Flush()
		}
		if err != nil {
			return
		}
	}
}

//go:build linux

package main

import (
	"net"
	"sync"
	"sync/atomic"
)

// proxy forwards connections from a port on loopback to a socket of a server, and can
// stop forwarding, as a network that fails without a word.
type proxy struct {
	listener net.Listener
	socket   string

	mu    sync.Mutex
	conns map[net.Conn]bool // nil when the proxy is closed
	// passing is closed while bytes may pass.
	passing chan struct{}

	accepted atomic.Int64 // connections so far
}

// newProxy listens on a port that the kernel chooses.
func newProxy(socket string) (*proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: listener, socket: socket, conns: make(map[net.Conn]bool), passing: make(chan struct{})}
	close(p.passing)
	go p.accept()
	return p, nil
}

func (p *proxy) port() int { return p.listener.Addr().(*net.TCPAddr).Port }

// isolate lets nothing pass from now on, in either direction. No connection ends, and
// new ones are accepted and get no answer.
func (p *proxy) isolate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.passing:
		p.passing = make(chan struct{})
	default: // it is isolated already
	}
}

// pass lets everything pass again, also what waited. The caller holds mu.
func (p *proxy) pass() {
	select {
	case <-p.passing:
	default:
		close(p.passing)
	}
}

// close ends all connections, and listens no more.
func (p *proxy) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		_ = conn.Close()
	}
	p.conns = nil
	p.pass()
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.serve(client)
	}
}

// serve connects a client with the server. While the server takes no connections, the
// client's ends at once.
func (p *proxy) serve(client net.Conn) {
	p.accepted.Add(1)
	server, err := net.Dial("unix", p.socket)
	if err != nil {
		_ = client.Close()
		return
	}
	if !p.track(client, server) {
		_ = client.Close()
		_ = server.Close()
		return
	}
	go p.forward(client, server)
	p.forward(server, client)
}

// track notes both ends of a connection. It reports whether the proxy is open.
func (p *proxy) track(ends ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		return false
	}
	for _, end := range ends {
		p.conns[end] = true
	}
	return true
}

// forward passes bytes on, and the end of one side to the other.
func (p *proxy) forward(to, from net.Conn) {
	defer func() {
		_ = to.Close()
		p.mu.Lock()
		delete(p.conns, to)
		p.mu.Unlock()
	}()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		passing := p.passing
		p.mu.Unlock()
		<-passing
		if _, failed := to.Write(buffer[:n]); failed != nil || err != nil {
			return
		}
	}
}

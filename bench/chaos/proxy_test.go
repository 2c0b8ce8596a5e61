//go:build linux

package main

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// echoServer answers every byte with the same byte on a socket.
func echoServer(t *testing.T) (socket string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				io.Copy(conn, conn)
			}()
		}
	}()
	return socket
}

func dialProxy(t *testing.T, p *proxy) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", p.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func testProxy(t *testing.T, socket string) *proxy {
	t.Helper()
	p, err := newProxy(socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	return p
}

// echoes sends one byte and reads the answer, for as long as a hang may last.
func echoes(conn net.Conn, limit time.Duration) error {
	if _, err := conn.Write([]byte("x")); err != nil {
		return err
	}
	if err := conn.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	_, err := conn.Read(make([]byte, 1))
	return err
}

const hang = 30 * time.Second

func TestAnIsolatedServerKeepsItsConnectionsAndAnswersNobody(t *testing.T) {
	p := testProxy(t, echoServer(t))
	before := dialProxy(t, p)
	if err := echoes(before, hang); err != nil {
		t.Fatal(err)
	}
	p.isolate()
	p.isolate() // twice is once
	meanwhile := dialProxy(t, p)
	for _, conn := range []net.Conn{before, meanwhile} {
		if err := echoes(conn, 50*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("an isolated server: %v", err)
		}
	}
	p.mu.Lock()
	p.pass()
	p.mu.Unlock()
	for _, conn := range []net.Conn{before, meanwhile} {
		conn.SetReadDeadline(time.Now().Add(hang))
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			t.Errorf("what waited did not pass: %v", err)
		}
	}
	if n := p.accepted.Load(); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
}

func TestAClosedProxyEndsItsConnections(t *testing.T) {
	for name, isolated := range map[string]bool{"open": false, "isolated": true} {
		t.Run(name, func(t *testing.T) {
			p := testProxy(t, echoServer(t))
			conn := dialProxy(t, p)
			if err := echoes(conn, hang); err != nil {
				t.Fatal(err)
			}
			if isolated {
				p.isolate()
			}
			p.close()
			if err := echoes(conn, hang); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("the connection goes on: %v", err)
			}
			if _, err := net.Dial("tcp", p.listener.Addr().String()); err == nil {
				t.Error("it still listens")
			}
		})
	}
}

func TestAServerThatIsGoneEndsTheConnection(t *testing.T) {
	p := testProxy(t, filepath.Join(t.TempDir(), "nobody"))
	if err := echoes(dialProxy(t, p), hang); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection goes on: %v", err)
	}
}

package web

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

func TestListenSaysWhenTheAddressIsInUse(t *testing.T) {
	ln, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, err = Listen(ln.Addr().String())
	ours, ok := errors.AsType[*countersign.Error](err)
	if !ok || ours.Kind != countersign.KindConflict {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{ln.Addr().String(), "in use", "--listen"} {
		if !strings.Contains(ours.Message, want) {
			t.Errorf("%q lacks %q", ours.Message, want)
		}
	}
}

func TestListenNamesAnAddressThatIsNone(t *testing.T) {
	if _, err := Listen("127.0.0.1:http-no-such"); err == nil || !strings.Contains(err.Error(), "http-no-such") {
		t.Errorf("got %v", err)
	}
}

// pipes is a listener whose connections are pipes.
type pipes struct{ net.Listener }

func (pipes) Accept() (net.Conn, error) {
	c, _ := net.Pipe()
	return c, nil
}
func (pipes) Close() error { return nil }

func TestConnectionsAreCapped(t *testing.T) {
	tcp, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		under net.Listener
		dial  func() (net.Conn, error)
	}{
		{"TCP", tcp, func() (net.Conn, error) { return net.Dial("tcp", tcp.Addr().String()) }},
		{"anything else", pipes{}, func() (net.Conn, error) { c, _ := net.Pipe(); return c, nil }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := capConnections(tt.under, 2)
			var open []net.Conn
			accept := func() {
				client, err := tt.dial()
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = client.Close() })
				c, err := l.Accept()
				if err != nil {
					t.Fatal(err)
				}
				open = append(open, c)
			}
			accept()
			accept()
			if len(l.slots) != cap(l.slots) {
				t.Fatal("a slot is free")
			}
			_ = open[0].Close()
			_ = open[0].Close() // a second close frees nothing more
			if len(l.slots) != 1 {
				t.Fatalf("%d slots are taken after one of two was closed", len(l.slots))
			}
			accept()
			refused := make(chan error)
			go func() {
				_, err := l.Accept()
				refused <- err
			}()
			_ = l.Close()
			if err := <-refused; !errors.Is(err, net.ErrClosed) {
				t.Errorf("a waiting Accept returned %v", err)
			}
		})
	}
}

func TestAFailedAcceptFreesItsSlot(t *testing.T) {
	ln, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = ln.Close()
	l := capConnections(ln, 1)
	for range 3 {
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Fatalf("got %v", err)
		}
	}
}

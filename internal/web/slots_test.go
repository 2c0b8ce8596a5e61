package web

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

// A namedConn is one end of a pipe, from an address of its own.
type namedConn struct {
	net.Conn
	from string
}

func (c namedConn) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.from))
}

// A slotScript runs steps against slots: "+a" opens a connection from the address a, and they are called a1, a2, and so
// on; "!a1" says that a request of it is complete, "~a1" that its client does not read the response, ".a1" that it was
// answered, "-a1" that the client has left.
type slotScript struct {
	addresses map[string]string
	slots     *slots
	conns     map[string]*conn
	opened    map[string]int
	evicted   []string
}

func newSlotScript(limit int, addresses map[string]string, exempt ...netip.Prefix) *slotScript {
	p := &slotScript{addresses: addresses, conns: map[string]*conn{}, opened: map[string]int{}}
	p.slots = newSlots(limit, exempt, func(why reason) { p.evicted = append(p.evicted, string(why)) }, func(reason) {})
	return p
}

func (p *slotScript) run(steps string) {
	for step := range strings.FieldsSeq(steps) {
		sign, name := step[0], step[1:]
		switch sign {
		case '+':
			here, _ := net.Pipe()
			p.opened[name]++
			c := newConn(namedConn{here, p.addresses[name]}, p.slots)
			p.conns[fmt.Sprint(name, p.opened[name])] = c
			p.slots.take(c)
		case '!':
			p.slots.busy(p.conns[name])
		case '~':
			p.slots.stick(p.conns[name])
		case '.':
			p.slots.idle(p.conns[name])
		case '-':
			_ = p.conns[name].Close()
		}
	}
}

// gone are the connections that have no slot.
func (p *slotScript) gone() string {
	var names []string
	for name, c := range p.conns {
		if !c.open {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func TestTheLongestSilentConnectionMakesRoom(t *testing.T) {
	addresses := map[string]string{
		"a": "192.0.2.1:1", "b": "192.0.2.2:1", "c": "192.0.2.3:1", "d": "192.0.2.4:1", "e": "192.0.2.5:1", "f": "192.0.2.6:1",
		"v": "[2001:db8::1]:1", "w": "[2001:db8::ffff]:1", "x": "[2001:db8:0:1::1]:1", "p": "10.0.0.1:1",
	}
	const full = "+a +b +c +d +e +f +x +v " // eight slots, each address below the quarter of two
	for _, tt := range []struct{ name, steps, gone, why string }{
		{"nobody while there are slots", full, "", ""},
		{"the one that was opened first", full + "+a", "a1", "silent"},
		{"one that was answered is silent anew", full + "!a1 .a1 +c", "b1", "silent"},
		{"the order of the answers counts, not that of the requests", full + "!a1 !b1 !c1 !d1 !e1 !f1 !x1 !v1 .c1 .a1 +b", "c1", "silent"},
		{"one with a complete request is not silent", full + "!a1 !b1 +c", "c1", "silent"},
		{"a freed slot is used first", full + "-c1 +b", "c1", ""},
		{"leaving twice frees one slot", full + "-c1 -c1 +p +p", "a1 c1", "silent"},
		{"one after the other", full + "+a +b +c", "a1 b1 c1", "silent silent silent"},
		{"an address with a quarter loses its own", "+a +b +c +d +e +f +x +x +b", "x1", "address"},
		{"whoever comes", "+a +b +c +d +e +f +x +x +p", "x1", "address"},
		{"an address just below it does not", full + "+p", "a1", "silent"},
		{"a quarter that is all at work keeps its connections", "+a +b +c +d +e +f +x +x !x1 !x2 +b", "a1", "silent"},
		{"and takes none from others", "+a +b +c +d +e +f +x +x !x1 !x2 +x", "x3", "refused"},
		{"an address below it takes them", "+a +b +c +d +e +f +x +v !x1 !v1 +x", "a1", "silent"},
		{"a trusted proxy takes them too", "+a +b +p +p +p +p +p +p !p1 !p2 !p3 !p4 !p5 !p6 +p", "a1", "silent"},
		{"one whose client does not read the response", full + "!a1 !b1 !c1 !d1 !e1 !f1 !x1 !v1 ~c1 +b", "c1", "silent"},
		{"of an address with a quarter, too", "+a +b +c +d +e +f +x +x !x1 !x2 ~x2 +x", "x2", "address"},
		{"one whose client reads on is at work", full + "!c1 ~c1 !c1 !a1 !b1 +b", "d1", "silent"},
		{"one that was silent before stays in its place", full + "~c1 ~a1 +b", "a1", "silent"},
		{"below a quarter again", "+a +b +c +d +e +f +x +x -x1 +p +p", "a1 x1", "silent"},
		{"of two with a quarter, the one that is silent longest", "+a +b +c +d +x +v +v +x +e +e", "v1 x1", "address address"},
		{"a /64 is one address", "+a +b +c +d +e +f +v +w +x", "v1", "address"},
		{"a trusted proxy has no quarter", "+a +p +p +p +p +p +p +p +b", "a1", "silent"},
		{"but is the longest silent like others", "+p +a +p +p +p +p +p +p +b", "p1", "silent"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newSlotScript(8, addresses, netip.MustParsePrefix("::ffff:10.0.0.0/104"))
			p.run(tt.steps)
			expect.Equalf(t, p.gone(), tt.gone, "gone")
			expect.Equalf(t, strings.Join(p.evicted, " "), tt.why, "because")
			for name := range p.conns {
				p.run("-" + name)
			}
			if s := p.slots; s.open != 0 || s.stuck != 0 || s.silent.length != 0 || s.silent.first != nil || len(s.holders) != 0 || len(s.large) != 0 {
				t.Errorf("left over: %d open, %d silent, %d addresses, %d large", s.open, s.silent.length, len(s.holders), len(s.large))
			}
		})
	}
}

func TestWhereAllAreAtWorkANewConnectionWaits(t *testing.T) {
	addresses := map[string]string{"a": "192.0.2.1:1", "b": "192.0.2.2:1"}
	for name, then := range map[string]struct{ step, gone string }{
		"until one is answered": {".a2", "a2"},
		"until one is closed":   {"-a1", "a1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newSlotScript(2, addresses)
				p.run("+a +a !a1 !a2")
				waits := true
				go func() { p.run("+b"); waits = false }()
				synctest.Wait()
				if !waits {
					t.Fatal("it did not wait")
				}
				p.run(then.step)
				synctest.Wait()
				if waits || p.gone() != then.gone {
					t.Errorf("waits %v, gone %s", waits, p.gone())
				}
			})
		})
	}
}

func TestClosingTheListenerEndsTheWaitForASlot(t *testing.T) {
	ln := must.Get(Listen("127.0.0.1:0"))(t)
	l := capConnections(ln, ServerOptions{MaxConnections: 1})
	dial := func() {
		client := must.Get(net.Dial("tcp", ln.Addr().String()))(t)
		t.Cleanup(func() { _ = client.Close() })
	}
	dial()
	c := must.Get(l.Accept())(t)
	l.slots.busy(c.(*conn))
	dial()
	refused := make(chan error)
	go func() {
		_, err := l.Accept()
		refused <- err
	}()
	_ = l.Close()
	if err := <-refused; !errors.Is(err, net.ErrClosed) {
		t.Errorf("a waiting Accept returned %v", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept on a closed listener returned %v", err)
	}
}

func TestConnectionsLeaveDescriptorsForTheRest(t *testing.T) {
	for descriptors, want := range map[int]int{1 << 20: 4096, 4160: 4096, 4159: 4095, 600: 536, 65: 1, 10: 1} {
		if got := connectionLimit(descriptors); got != want {
			t.Errorf("of %d descriptors %d are for connections, want %d", descriptors, got, want)
		}
	}
}

package web

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	xhttp2 "golang.org/x/net/http2"

	"github.com/countersign/countersign/internal/expect"
)

// A deliveryScript counts requests and bytes of responses against a limit of 8 requests and 800 bytes: "+a" begins a
// request of the address a, and they are called a1, a2, and so on; "a1:200" begins to send 200 bytes of its response, "~a1"
// is one that was sent in part and goes on, "-a1" ends it. A step that is refused is noted.
type deliveryScript struct {
	deliveries *deliveries
	slots      *slots
	all        map[string]*delivery
	began      map[string]int
	refused    []string
}

func (p *deliveryScript) run(steps string) {
	for step := range strings.FieldsSeq(steps) {
		name := strings.Trim(step, "+~-")
		var bytes int
		if at := strings.Index(name, ":"); at > 0 {
			_, _ = fmt.Sscan(name[at+1:], &bytes)
			name = name[:at]
		}
		ok := true
		switch d := p.deliveries; {
		case step[0] == '+':
			p.began[name]++
			here, _ := net.Pipe()
			c := newConn(namedConn{here, "192.0.2." + fmt.Sprint(name[0]) + ":1"}, p.slots)
			one := &delivery{conn: c}
			p.all[fmt.Sprint(name, p.began[name])] = one
			ok = d.add(one, load{requests: 1}, true) && d.enter(one)
		case step[0] == '~':
			one := p.all[name]
			d.leave(one)
			d.enter(one)
		case step[0] == '-':
			d.leave(p.all[name])
			d.subtract(p.all[name], p.all[name].load)
		default:
			ok = d.add(p.all[name], load{bytes: bytes}, true)
		}
		if !ok {
			p.refused = append(p.refused, step)
		}
	}
}

func TestWhatIsNotReadMakesRoom(t *testing.T) {
	const full = "+a +a +b +b +c +c +d +d "
	for _, tt := range []struct{ name, steps, broken, refused string }{
		{"nothing while there is room", full, "", ""},
		{"of equal addresses, the one that has waited longest, for a new address", full + "+e", "a1", ""},
		{"not for one that would hold as much", "+a +b +c +d +e +f +g +h +a", "", "+a"},
		{"an address with a quarter makes room itself", full + "+b", "b1", ""},
		{"of one that goes on, another", full + "~a1 +e", "a2", ""},
		{"an end makes room", full + "-c1 +e", "", ""},
		{"the address that holds most", "+a +b +c +d +e +f +g +g +h", "g1", ""},
		{"bytes, too", full + "a1:200 b1:200 c1:200 d1:200 +a b2:1", "a1 b1", ""},
		{"of a new address", "+a +b +c +d +e a1:200 b1:200 c1:200 d1:200 e1:100", "a1", ""},
		{"one that was broken off sends no more", full + "+e a1:1", "a1", "a1:1"},
		{"what is broken off and does not end counts twice at most", full + "+e +f +g +h +i +j +k +l +m", "a1 a2 b1 b2 c1 c2 d1 d2", "+m"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				none := func(reason) {}
				p := &deliveryScript{deliveries: newDeliveries(load{8, 800}, nil, none), slots: newSlots(100, nil, none, none), all: map[string]*delivery{}, began: map[string]int{}}
				p.run(tt.steps)
				var broken []string
				for _, address := range "abcdefghijklm" {
					for n := range 3 {
						if name := fmt.Sprint(string(address), n+1); p.all[name] != nil && p.all[name].broken {
							broken = append(broken, name)
						}
					}
				}
				if got, refused := strings.Join(broken, " "), strings.Join(p.refused, " "); got != tt.broken || refused != tt.refused {
					t.Errorf("broken off: %q, refused: %q; want %q, %q", got, refused, tt.broken, tt.refused)
				}
				for name, one := range p.all {
					if one.load != (load{}) {
						p.run("-" + name)
					}
				}
				if d := p.deliveries; d.total != (tally{}) || len(d.addresses) != 0 || d.waiting.first != nil {
					t.Errorf("left over: %+v, %d addresses", d.total, len(d.addresses))
				}
			})
		})
	}
}

// Without a limit, each would hold its response until a deadline, which is hours away.
func TestResponsesOfHTTP2ThatAreNotReadAreBounded(t *testing.T) {
	long := make([]byte, 1<<20)
	began := make(chan struct{}, 1000)
	m := NewMetrics("v")
	s := startTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/unread" {
			began <- struct{}{}
			_, _ = w.Write(long)
		}
	}), ServerOptions{Longer: 10 * 3600e9, Metrics: m})
	for range 4 {
		f := s.frames(t, xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 0})
		for i := range uint32(10) {
			f.request(2*i+1, "GET", "/unread", true)
		}
		for range 10 {
			f.until(func(frame xhttp2.Frame) bool { return frame.Header().StreamID != 0 }) // the header, the reset or the refusal
		}
	}
	d := s.slots.deliveries
	d.mu.Lock()
	all, kept := d.total.all, d.total.intact()
	d.mu.Unlock()
	if all.bytes > 2*maxUnsent || kept.bytes > maxUnsent/4 || all.requests > 40 {
		t.Errorf("%+v is held for one address, %+v of it goes on", all, kept)
	}
	expect.Equal(t, answerOn(t, s.dial(t, oneGet)), "200 ")
	if got := string(scrape(t, m)); !strings.Contains(got, `countersign_http_responses_broken_off_total{reason="address"}`) || strings.Contains(got, `countersign_http_responses_broken_off_total{reason="address"} 0`) {
		t.Error("the metric does not count what was broken off")
	}
}

func TestLargeResponsesOfHTTP1ThatAreNotReadAreBounded(t *testing.T) {
	long := make([]byte, 8<<20) // more than the kernel takes
	m := NewMetrics("v")
	s := start(t, NewEdge(Options{}).Wrap(func(w http.ResponseWriter, _ *http.Request) error {
		_, _ = w.Write(long)
		return nil
	}), ServerOptions{Longer: 10 * 3600e9, Metrics: m})
	for range maxUnsent/4/maxCounted + 2 {
		_, _ = dial(t, s.addr, oneGet).Read(make([]byte, 1)) // it may be broken off at once
	}
	if held := s.slots.deliveries.held(); held.bytes > 2*maxUnsent/4 {
		t.Errorf("%d bytes are held", held.bytes)
	}
	if got := string(scrape(t, m)); strings.Contains(got, `broken_off_total{reason="address"} 0`) && strings.Contains(got, `broken_off_total{reason="refused"} 0`) {
		t.Error("nothing was broken off")
	}
}

// Without a limit, such requests would keep all others out until a deadline, which is hours away.
func TestRequestsOfHTTP2ThatDoNotArriveMakeRoom(t *testing.T) {
	h := newReading()
	s := startTLS(t, h, ServerOptions{Longer: 10 * 3600e9})
	d := s.slots.deliveries
	d.mu.Lock()
	d.most.requests = 8 // an address has two
	d.mu.Unlock()
	for range 2 {
		s.frames(t).request(1, "POST", "/", false)
		<-h.entered
	}
	const want = "HTTP/2.0 200 "
	var got string
	for range 100 { // they may not wait for the rest of their bodies yet
		if got = s.ask(s.client(t), "GET", "/", nil); got == want {
			return
		}
	}
	t.Errorf("got %s", got)
}

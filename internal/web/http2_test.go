package web

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/countersign/countersign/internal/expect"
)

// client returns a client that speaks HTTP/2 alone, on one connection.
func (s secured) client(t *testing.T) *http.Client {
	var protocols http.Protocols
	protocols.SetHTTP2(true)
	transport := &http.Transport{TLSClientConfig: s.config.Clone(), Protocols: &protocols}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// ask sends a request and returns its status and body.
func (s secured) ask(client *http.Client, method, path string, body io.Reader) string {
	r, err := http.NewRequest(method, "https://"+s.addr+path, body)
	if err != nil {
		return err.Error()
	}
	res, err := client.Do(r)
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(res.Proto, " ", res.StatusCode, " ", string(text))
}

// A frames is a client of HTTP/2 that decides about each frame.
type frames struct {
	*xhttp2.Framer
	t    *testing.T
	conn net.Conn
}

// frames opens a connection with settings.
func (s secured) frames(t *testing.T, settings ...xhttp2.Setting) frames {
	t.Helper()
	c := s.dial(t, xhttp2.ClientPreface, "h2")
	f := frames{xhttp2.NewFramer(c, c), t, c}
	f.ok(f.WriteSettings(settings...))
	return f
}

func (f frames) ok(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// request sends the header of a request, which ends there or has a body.
func (f frames) request(stream uint32, method, path string, ends bool) {
	f.t.Helper()
	f.ok(f.sendRequest(stream, method, path, ends))
}

func (f frames) sendRequest(stream uint32, method, path string, ends bool) error {
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	for _, field := range [][2]string{{":method", method}, {":scheme", "https"}, {":authority", "a"}, {":path", path}} {
		_ = e.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}) // writing to memory does not fail
	}
	return f.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndStream: ends, EndHeaders: true})
}

// until reads frames until one is as wanted.
func (f frames) until(wanted func(xhttp2.Frame) bool) {
	f.t.Helper()
	for {
		frame, err := f.ReadFrame()
		f.ok(err)
		if wanted(frame) {
			return
		}
	}
}

// endsStream reports whether a frame is the last of a response. Frames of the connection use the flag for something else.
func endsStream(f xhttp2.Frame) bool {
	return f.Header().StreamID != 0 && f.Header().Flags.Has(xhttp2.FlagDataEndStream)
}

func TestRequestsOfHTTP2ShareAConnection(t *testing.T) {
	h := newReading()
	s := startTLS(t, h, ServerOptions{MaxConnections: 1})
	client := s.client(t)
	s.ask(client, "GET", "/", nil) // opens it
	<-h.entered
	answers := make(chan string)
	for range 10 {
		go func() { answers <- s.ask(client, "POST", "/wait", strings.NewReader("body")) }()
	}
	for range 10 {
		<-h.entered
	}
	close(h.leave)
	for range 10 {
		expect.Equal(t, <-answers, "HTTP/2.0 200 body")
	}
}

func TestConnectionsOfHTTP2WithoutACompleteRequestMakeRoom(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(f frames, h reading){
		"no request":               func(frames, reading) {},
		"a body that does not end": func(f frames, h reading) { f.request(1, "POST", "/", false); <-h.entered },
		"nothing after an answer":  func(f frames, h reading) { f.request(1, "GET", "/", true); f.until(endsStream) },
		"a request that was reset": func(f frames, h reading) {
			f.request(1, "POST", "/", false)
			<-h.entered
			f.ok(f.WriteRSTStream(1, xhttp2.ErrCodeCancel))
		},
		"an answer, and half a body": func(f frames, h reading) {
			f.request(1, "POST", "/", false)
			<-h.entered
			f.request(3, "GET", "/", true)
			f.until(endsStream)
		},
		"a header that is not at end": func(f frames, h reading) { f.ok(f.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 1})) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newReading()
			s := startTLS(t, h, ServerOptions{MaxConnections: 2})
			var silent []frames
			for range 2 {
				f := s.frames(t)
				f.until(func(frame xhttp2.Frame) bool { // from then on it is silent
					settings, ok := frame.(*xhttp2.SettingsFrame)
					return ok && settings.IsAck()
				})
				begin(f, h)
				silent = append(silent, f)
			}
			s.working(0)
			for _, f := range silent {
				expect.Equal(t, answerOn(t, s.dial(t, oneGet)), "200 ")
				untilClosed(f.conn)
			}
		})
	}
}

func TestOneCompleteRequestOfHTTP2KeepsItsConnection(t *testing.T) {
	h := newReading()
	s := startTLS(t, h, ServerOptions{MaxConnections: 2})
	f := s.frames(t)
	f.request(1, "POST", "/", false) // this one does not end
	<-h.entered
	f.request(3, "POST", "/wait", false)
	f.ok(f.WriteData(3, true, []byte("body")))
	s.working(1)
	for range 4 {
		expect.Equal(t, answerOn(t, s.dial(t, oneGet)), "200 ")
	}
	close(h.leave)
	f.until(func(frame xhttp2.Frame) bool { return frame.Header().StreamID == 3 && endsStream(frame) })
}

// The deadlines are hours away: without its slot being taken, a client that does not read would keep it.
func TestConnectionsOfHTTP2WhoseClientsDoNotReadMakeRoom(t *testing.T) {
	t.Parallel()
	for name, length := range map[string]int{"the end of a short answer": 10, "a long answer": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answers := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/unread" {
					_, _ = w.Write(make([]byte, length))
				}
			})
			s := startTLS(t, answers, ServerOptions{MaxConnections: 2, Longer: 10 * time.Hour})
			for range 2 {
				s.frames(t, xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 0}).request(1, "GET", "/unread", true)
			}
			s.working(2)
			expect.Equal(t, answerOn(t, s.dial(t, oneGet)), "200 ")
		})
	}
}

func TestAClientOfHTTP2ThatReadsSlowlyGetsAllOfALongAnswer(t *testing.T) {
	body := numbered(300 << 10)
	s := startTLS(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }), ServerOptions{})
	f := s.frames(t, xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 1000})
	f.request(1, "GET", "/", true)
	var got []byte
	f.until(func(frame xhttp2.Frame) bool {
		if data, ok := frame.(*xhttp2.DataFrame); ok {
			got = append(got, data.Data()...)
			if n := uint32(len(data.Data())); n > 0 {
				f.ok(f.WriteWindowUpdate(0, n))
				f.ok(f.WriteWindowUpdate(1, n))
			}
		}
		return endsStream(frame)
	})
	if !bytes.Equal(got, body) {
		t.Errorf("%d of %d bytes", len(got), len(body))
	}
}

func TestStreamsOfAConnectionAreLimited(t *testing.T) {
	s := startTLS(t, http.NotFoundHandler(), ServerOptions{})
	f := s.frames(t)
	f.until(func(frame xhttp2.Frame) bool {
		settings, ok := frame.(*xhttp2.SettingsFrame)
		if !ok || settings.IsAck() {
			return false
		}
		if n, _ := settings.Value(xhttp2.SettingMaxConcurrentStreams); n != maxStreams {
			t.Errorf("%d streams", n)
		}
		if n, _ := settings.Value(xhttp2.SettingMaxHeaderListSize); n < maxHeaderBytes || n > 2*maxHeaderBytes {
			t.Errorf("%d bytes of header", n)
		}
		return true
	})
}

func TestResettingStreamsEndsTheConnection(t *testing.T) {
	t.Parallel()
	h := newReading()
	s := startTLS(t, h, ServerOptions{})
	defer close(h.leave)
	f := s.frames(t)
	go func() {
		for id := uint32(1); id < 100_000; id += 2 {
			if f.sendRequest(id, "GET", "/wait", true) != nil || f.WriteRSTStream(id, xhttp2.ErrCodeCancel) != nil {
				return
			}
		}
	}()
	untilClosed(f.conn)
}

func TestAStopFinishesRequestsOfHTTP2AndAnnouncesItself(t *testing.T) {
	t.Parallel()
	h := newReading()
	s := startTLS(t, NewEdge(Options{}).Wrap(func(w http.ResponseWriter, r *http.Request) error {
		h.ServeHTTP(w, r)
		return nil
	}), ServerOptions{})
	idle, busy := s.frames(t), s.frames(t)
	idle.request(1, "GET", "/", true)
	idle.until(endsStream)
	busy.request(1, "POST", "/wait", false)
	busy.ok(busy.WriteData(1, true, []byte("body")))
	s.working(1)
	s.stopped()
	isGoAway := func(f xhttp2.Frame) bool {
		away, ok := f.(*xhttp2.GoAwayFrame)
		return ok && away.ErrCode == xhttp2.ErrCodeNo
	}
	idle.until(isGoAway)
	busy.until(isGoAway)
	close(h.leave)
	busy.until(endsStream)
	if err := <-s.done; err != nil {
		t.Errorf("the stop returned %v", err)
	}
}

func TestAStopBreaksOffARequestOfHTTP2ThatDoesNotEnd(t *testing.T) {
	h := newReading()
	defer close(h.leave)
	s := startTLSFor(t, h, ServerOptions{}, time.Millisecond)
	f := s.frames(t)
	f.request(1, "POST", "/wait", false)
	f.ok(f.WriteData(1, true, []byte("body")))
	s.working(1)
	s.stop()
	if err := <-s.done; err == nil {
		t.Error("no error")
	}
	untilClosed(f.conn)
}

package frame

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/web"
)

// How many streams there are at most, of one user and in all.
const (
	streamsOfUser = 4
	maxStreams    = 16
)

const (
	// lookEvery is how often a stream looks for events.
	lookEvery = time.Second
	// restAfter is how many times as long as it has looked a stream waits at least.
	restAfter = 20
	// heartbeatEvery is how often a stream without events shows that it is there.
	heartbeatEvery = 15 * time.Second
)

// Event is what a stream sends at once.
type Event struct {
	// ID comes back in the header Last-Event-ID when the browser connects again; "" leaves the one before.
	ID string
	// Name is "" for a message.
	Name string
	// Data is HTML, and may be nil.
	Data templ.Component
}

// streams are the streams that are open. When there are as many as there may be, a workspace that has at least two more
// than another gives one up for it, and so does a user for another one of the workspace.
type streams struct {
	mu  sync.Mutex
	all []*openStream
}

// openStream is a stream of a user that follows a workspace, until it is ended for another one.
type openStream struct {
	workspace, user int64
	ended           chan struct{}
}

// open adds a stream.
func (s *streams) open(workspace, user int64) (*openStream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := &openStream{workspace, user, make(chan struct{})}
	if s.ofUser(one) >= streamsOfUser {
		return nil, fault.Limited("streams_of_user", "You follow as many pages at once as you may. Close one of them first", heartbeatEvery)
	}
	if len(s.all) >= maxStreams {
		other := s.hasMore(one)
		if other == nil {
			return nil, fault.WithRetry(fault.Unavailable("streams", "Too many people follow pages at present. Try again later"), heartbeatEvery)
		}
		close(other.ended)
		s.remove(other)
	}
	s.all = append(s.all, one)
	return one, nil
}

// hasMore returns a stream that may be ended for one: of the workspace that has most, and of the user who has most there.
func (s *streams) hasMore(one *openStream) (found *openStream) {
	for _, other := range s.all {
		fair := s.ofWorkspace(other) > s.ofWorkspace(one)+1 || other.workspace == one.workspace && s.ofUser(other) > s.ofUser(one)+1
		if fair && (found == nil || cmp.Or(cmp.Compare(s.ofWorkspace(other), s.ofWorkspace(found)), cmp.Compare(s.ofUser(other), s.ofUser(found))) > 0) {
			found = other
		}
	}
	return found
}

func (s *streams) ofWorkspace(one *openStream) int {
	return s.count(func(other *openStream) bool { return other.workspace == one.workspace })
}

func (s *streams) ofUser(one *openStream) int {
	return s.count(func(other *openStream) bool { return other.user == one.user })
}

func (s *streams) count(is func(*openStream) bool) (n int) {
	for _, one := range s.all {
		if is(one) {
			n++
		}
	}
	return n
}

func (s *streams) close(one *openStream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(one)
}

func (s *streams) remove(one *openStream) {
	s.all = slices.DeleteFunc(s.all, func(other *openStream) bool { return other == one })
}

// Stream answers with server-sent events. look finds those since its last call, each second, for the actor as it is
// then; its first error is the answer. The stream ends when look fails later, when the session ends, when the client
// leaves or does not read, when another user or workspace gets its place, and when the server stops.
func (f *Frame) Stream(w http.ResponseWriter, r *Request, look func(people.Actor) ([]Event, error)) error {
	one, err := f.streams.open(r.Actor.Workspace, r.User.ID)
	if err != nil {
		return err
	}
	defer f.streams.close(one)
	events, err := look(r.Actor)
	if err != nil {
		return err
	}
	out := http.NewResponseController(w)
	_ = out.SetReadDeadline(time.Time{}) // net/http ends a request whose connection is silent for as long
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would hold events back
	if r.Method == http.MethodHead {
		return nil
	}
	var sent time.Time
	for wait := lookEvery; ; {
		if len(events) > 0 || time.Since(sent) >= heartbeatEvery {
			if sent = time.Now(); sendEvents(r.Context(), w, out, events) != nil {
				return nil
			}
		}
		select {
		case <-r.Context().Done():
			return nil
		case <-web.Stopping(w):
			return nil
		case <-one.ended:
			return nil
		case <-time.After(wait):
		}
		began := time.Now()
		if events, err = f.lookAgain(w, r, look); err != nil {
			return nil
		}
		wait = max(lookEvery, restAfter*time.Since(began))
	}
}

// lookAgain looks for events, if the session has not ended.
func (f *Frame) lookAgain(w http.ResponseWriter, r *Request, look func(people.Actor) ([]Event, error)) ([]Event, error) {
	s, found, err := f.People.LoadSession(r.Context(), f.cookieOf(w, r.Request, sessionCookie))
	if err != nil {
		return nil, err
	}
	if !found || s.User.ID != r.User.ID {
		return nil, fault.Unauthorized("sign_in_needed", "The session has ended")
	}
	actor := s.User.Actor(r.From)
	actor.Workspace = r.Actor.Workspace
	return look(actor)
}

// sendEvents sends events with a comment before them, for which a client without events knows that the stream is there.
func sendEvents(ctx context.Context, w http.ResponseWriter, out *http.ResponseController, events []Event) error {
	b := bytes.NewBufferString(":\n\n")
	for _, e := range events {
		if err := e.write(ctx, b); err != nil {
			return err
		}
	}
	_ = out.SetWriteDeadline(time.Now().Add(pieceWait))
	if _, err := w.Write(b.Bytes()); err != nil {
		return err
	}
	return out.Flush()
}

func (e Event) write(ctx context.Context, to *bytes.Buffer) error {
	var data strings.Builder
	if e.Data != nil {
		if err := e.Data.Render(ctx, &data); err != nil {
			return err
		}
	}
	if e.ID != "" {
		to.WriteString("id: " + e.ID + "\n")
	}
	if e.Name != "" {
		to.WriteString("event: " + e.Name + "\n")
	}
	for line := range strings.SplitSeq(data.String(), "\n") {
		to.WriteString("data: " + line + "\n")
	}
	to.WriteString("\n")
	return nil
}

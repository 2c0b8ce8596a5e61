package playfake

import (
	"net/http"
	"slices"
)

// ackPrefix begins the id by which a pulled message is acknowledged.
const ackPrefix = "ack-"

// pubSub serves pull and acknowledge of Pub/Sub.
func (s *Store) pubSub(w http.ResponseWriter, r *http.Request) {
	switch _, name := verb(r.PathValue("subscription")); name {
	case "pull":
		s.servePull(w, r)
	case "acknowledge":
		s.serveAcknowledge(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (s *Store) servePull(w http.ResponseWriter, r *http.Request) {
	var request struct {
		MaxMessages int `json:"maxMessages"`
	}
	if !read(w, r, &request) {
		return
	}
	if request.MaxMessages < 1 {
		refuse(w, http.StatusBadRequest, "badRequest", "maxMessages must be positive.")
		return
	}
	received := []map[string]any{}
	for _, m := range s.state.Messages {
		if !m.Acknowledged && len(received) < request.MaxMessages {
			received = append(received, map[string]any{"ackId": ackPrefix + m.ID, "message": wireMessage(m)})
		}
	}
	if len(received) == 0 {
		answer(w, struct{}{})
		return
	}
	answer(w, map[string]any{"receivedMessages": received})
}

func (s *Store) serveAcknowledge(w http.ResponseWriter, r *http.Request) {
	var request struct {
		AckIDs []string `json:"ackIds"`
	}
	if !read(w, r, &request) {
		return
	}
	for i := range s.state.Messages {
		if slices.Contains(request.AckIDs, ackPrefix+s.state.Messages[i].ID) {
			s.state.Messages[i].Acknowledged = true
		}
	}
	answer(w, struct{}{})
}

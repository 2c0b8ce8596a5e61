package api

import (
	"net/http"
	"strings"

	"github.com/countersign/countersign/internal/store/requests"
	"github.com/countersign/countersign/internal/web"
)

// logged is the beginning of the paths whose calls are logged.
const logged = "/api/"

// otherEndpoint stands for a path that the API does not have. A client may have chosen it, so
// it is not logged.
const otherEndpoint = "other"

// callLog logs the calls of the API.
type callLog struct {
	log *requests.Log
	// endpoints are the paths of the API. Their texts are logged rather than those of
	// requests, which would keep more in memory.
	endpoints map[string]string
}

func newCallLog(log *requests.Log) *callLog { return &callLog{log, map[string]string{}} }

// add notes a route of the API.
func (l *callLog) add(pattern string) {
	if _, path, _ := strings.Cut(pattern, " "); strings.HasPrefix(path, logged) {
		l.endpoints[path] = path
	}
}

// answered logs a call.
func (l *callLog) answered(d web.Answered) {
	path := d.Path()
	if !strings.HasPrefix(path, logged) {
		return
	}
	endpoint, ok := l.endpoints[path]
	if !ok {
		endpoint = otherEndpoint
	}
	about := d.Subject()
	e := requests.Entry{
		Number: d.Number(), Workspace: about.Workspace, Key: about.Key, Item: about.Item, Purchase: about.Purchase,
		Endpoint: endpoint, Method: d.Method(), Status: d.Status(), Reason: reasonOf(d), Took: d.Took(), Addr: d.Addr(),
	}
	header := d.Header()
	if agent := header["User-Agent"]; len(agent) > 0 {
		e.Agent = requests.ShortAgent(agent[0])
	}
	noteSent(&e.Sent, d, header)
	l.log.Put(&e)
}

// reasonOf returns why a call failed, "" for a valid one.
func reasonOf(d web.Answered) string {
	switch code, status := d.Code(), d.Status(); {
	case code != "":
		return code
	case status == web.StatusClientGone:
		return requests.ReasonGone
	case status >= http.StatusBadRequest:
		return requests.ReasonUnknown
	}
	return d.Subject().Reason
}

// noteSent notes the parameters of a call, and where its key stood.
func noteSent(s *requests.Sent, d web.Answered, header http.Header) {
	if len(header["Authorization"]) > 0 {
		s.Add(requests.InAuthorization, "api_key", "")
	}
	if len(header["X-Api-Key"]) > 0 {
		s.Add(requests.InHeader, "api_key", "")
	}
	d.EachParam(func(name, value string, query bool) {
		place := requests.InBody
		if query {
			place = requests.InQuery
		}
		s.Add(place, name, value)
	})
}

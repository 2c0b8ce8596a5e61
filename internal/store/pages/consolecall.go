package pages

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store/requests"
)

// consoleAgent is the program as which the console calls the API.
const consoleAgent = "Countersign console"

// apiCall is a call of the API. Only the API may receive its key.
type apiCall struct {
	endpoint endpoint
	key      string
	place    string // of the key
	value    string // of the endpoint's parameter
}

// apiResult is the response to a call.
type apiResult struct {
	status int
	header http.Header
	body   bytes.Buffer
	took   time.Duration
}

// Header, Write and WriteHeader implement [http.ResponseWriter].
func (a *apiResult) Header() http.Header { return a.header }

func (a *apiResult) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}

// WriteHeader notes the first status that is not one of information.
func (a *apiResult) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
	}
}

// call makes a call of the API in this process, from the address of the user.
func (p *Pages) call(r *frame.Request, c apiCall) (*apiResult, error) {
	request, err := c.request(r)
	if err != nil {
		return nil, err
	}
	result := &apiResult{header: http.Header{}}
	start := p.frame.Now()
	p.api.ServeHTTP(result, request)
	result.took = p.frame.Now().Sub(start)
	result.WriteHeader(http.StatusOK)
	return result, nil
}

// request is the call as a program would send it.
func (c apiCall) request(r *frame.Request) (*http.Request, error) {
	params := url.Values{}
	if name := c.endpoint.param.Name; name != "" {
		params.Set(name, c.value)
	}
	header := http.Header{"User-Agent": {consoleAgent}}
	query, body := url.Values{}, ""
	if c.endpoint.post {
		body = params.Encode()
	} else {
		query = params
	}
	switch c.place {
	case placeHeader:
		header.Set("X-Api-Key", c.key)
	case placeQuery:
		query.Set("api_key", c.key)
	case placeJSON, placeForm:
		params.Set("api_key", c.key)
		query, body = url.Values{}, params.Encode()
	default:
		header.Set("Authorization", "Bearer "+c.key)
	}
	if body != "" {
		header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if c.place == placeJSON {
		text, err := jsonOf(params)
		if err != nil {
			return nil, err
		}
		body = text
		header.Set("Content-Type", "application/json")
	}
	return c.newRequest(r, header, query, body)
}

// newRequest is the request of a call by the user's connection.
func (c apiCall) newRequest(r *frame.Request, header http.Header, query url.Values, body string) (*http.Request, error) {
	address := url.URL{Path: c.endpoint.path, RawQuery: query.Encode()}
	request, err := http.NewRequestWithContext(r.Context(), c.endpoint.method(), address.String(), strings.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("pages: console: %w", err)
	}
	for name, values := range r.Header { // what a trusted proxy says of the user
		if strings.HasPrefix(name, "X-Forwarded-") {
			header[name] = values
		}
	}
	request.Header, request.RemoteAddr, request.Host, request.TLS = header, r.RemoteAddr, r.Host, r.TLS
	return request, nil
}

// jsonOf writes parameters as a JSON object.
func jsonOf(params url.Values) (string, error) {
	object := map[string]string{}
	for name := range params {
		object[name] = params.Get(name)
	}
	text, err := countersign.EncodeJSON(object)
	return string(text), err
}

// badge is the status with its name.
func (a *apiResult) badge() frame.Badge {
	kind := frame.Good
	if a.code() != "" || a.status >= http.StatusBadRequest {
		kind = frame.Warning
	}
	return frame.Badge{Text: fmt.Sprintf("%d %s", a.status, http.StatusText(a.status)), Kind: kind}
}

// code is the error's code, "" for a success.
func (a *apiResult) code() string { return a.header.Get("X-Error-Code") }

// why says in a sentence how the call ended.
func (a *apiResult) why() string { return requests.Why(a.code()) }

// id is the request's id.
func (a *apiResult) id() string { return a.header.Get("X-Request-Id") }

// headers are the lines of the response's header.
func (a *apiResult) headers() string {
	var lines []string
	for name, values := range a.header {
		lines = append(lines, name+": "+strings.Join(values, ", "))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// shownBody is how many bytes of a body the page shows.
const shownBody = 64 << 10

// bodyCode shows the body: indented, or the beginning of a long one.
func (a *apiResult) bodyCode() frame.Code {
	c := frame.Code{Name: "body", Label: fmt.Sprintf("Body, %s bytes", frame.Thousands(int64(a.body.Len())))}
	if a.body.Len() <= shownBody {
		c.Text = frame.Indented(a.body.Bytes())
		return c
	}
	c.Label += fmt.Sprintf(", the first %s shown", frame.Thousands(int64(shownBody)))
	c.Text = strings.ToValidUTF8(string(a.body.Bytes()[:shownBody]), "") + "…"
	return c
}

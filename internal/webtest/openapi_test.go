package webtest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
)

// reply is an answer that the tests take apart.
type reply struct {
	method, path string
	status       int
	header       http.Header
	body         string
}

// headers reads "Name: value" lines.
func headers(lines ...string) http.Header {
	h := http.Header{"X-Request-Id": {"r1"}}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		h.Add(name, value)
	}
	return h
}

func jsonHeaders(lines ...string) http.Header {
	return headers(append(lines, "Content-Type: application/json; charset=utf-8")...)
}

func anItem() reply {
	return reply{"GET", "/api/items/item", 200, jsonHeaders("Cache-Control: private, no-cache", `ETag: "abc"`),
		`{"status":"success","item":{"id":7,"name":"n","description":"d","category":"c","sub_category":"s","options":[],` +
			`"version":"1.2.3","demo_link":"https://x.example/","tags":["t"],"media":{"thumbnail":"https://x.example/t.png",` +
			`"preview_image":"https://x.example/p.png"},"price":{"regular":49.00,"extended":199.00},"currency":"USD",` +
			`"published_at":"2024-04-27T12:00:00Z"}}`}
}

func aPurchase() reply {
	item := strings.TrimSuffix(strings.TrimPrefix(anItem().body, `{"status":"success","item":`), "}")
	return reply{"POST", "/api/purchases/validation", 200, jsonHeaders("Cache-Control: no-store"),
		`{"status":"success","data":{"purchase":{"purchase_code":"abc","license_type":"Regular","price":49.00,"currency":"USD",` +
			`"item":` + item + `,"supported_until":"2025-04-27T12:00:00Z","downloaded":false,"date":"2024-04-27T12:00:00Z"}}}`}
}

func aRefusal() reply {
	return reply{"POST", "/api/purchases/validation", 404, jsonHeaders("Cache-Control: no-store", "X-Error-Code: purchase_not_found"),
		`{"status":"error","msg":"Invalid purchase code"}`}
}

func alwaysOK() reply {
	r := aRefusal()
	r.status = 200
	return r
}

func wrongMethod() reply {
	return reply{"PUT", "/api/items/all", 405,
		jsonHeaders("Cache-Control: no-store", "X-Error-Code: method_not_allowed", "Allow: GET, HEAD, OPTIONS"),
		`{"status":"error","msg":"Method not allowed"}`}
}

func notModified() reply {
	return reply{"GET", "/api/items/all", 304, headers("Cache-Control: private, no-cache", `ETag: "abc"`), ""}
}

func limited() reply {
	return reply{"POST", "/api/purchases/validation", 429,
		jsonHeaders("Cache-Control: no-store", "X-Error-Code: rate_limited", "Retry-After: 30"),
		`{"status":"error","msg":"Too many requests"}`}
}

// but returns the answer with one text in it replaced.
func (r reply) but(old, replacement string) reply {
	if !strings.Contains(r.body, old) {
		panic("the body does not hold " + old)
	}
	r.body = strings.Replace(r.body, old, replacement, 1)
	return r
}

// with sets a header; an empty value takes it away.
func (r reply) with(name, value string) reply {
	r.header = r.header.Clone()
	r.header.Del(name)
	if value != "" {
		r.header.Set(name, value)
	}
	return r
}

func (r reply) as(method, path string, status int) reply {
	r.method, r.path, r.status = method, path, status
	return r
}

func TestOracleAcceptsWhatTheDocumentSays(t *testing.T) {
	o := storeOracle(t)
	head := anItem().as("HEAD", "/api/items/item", 200)
	head.body = ""
	for rule, r := range map[string]reply{
		"an item":                                  anItem(),
		"a HEAD has no body":                       head,
		"a trailing slash":                         anItem().as("GET", "/api/items/item/", 200),
		"doubled slashes, dots and a query":        anItem().as("GET", "//api/./items/all/../item?item_id=7", 200),
		"encoded letters":                          anItem().as("GET", "/api/%69tems/item", 200),
		"an audio item":                            anItem().but(`"preview_image"`, `"preview_audio"`),
		"an item without a version":                anItem().but(`"1.2.3"`, `""`),
		"a video item":                             anItem().but(`"preview_image"`, `"preview_video":"https://x.example/v.mp4","preview_image"`),
		"a purchase":                               aPurchase(),
		"a purchase without support":               aPurchase().but(`"supported_until":"2025-04-27T12:00:00Z",`, ``),
		"an unknown code":                          aRefusal(),
		"an error with status 200":                 alwaysOK(),
		"an error with status 200 and its headers": alwaysOK().but("Invalid purchase code", "Too many requests").with("X-Error-Code", "rate_limited").with("Retry-After", "3"),
		"a method that is not listed":              wrongMethod(),
		"304 has no body":                          notModified(),
		"a limit":                                  limited(),
		"headers the document does not know":       aPurchase().with("X-Internal", "1"),
		"a path the document does not know":        anItem().as("GET", "/api/items", 500),
		"doubled slashes that lead nowhere":        aRefusal().as("POST", "/api//purchases/validation", 404).with("X-Error-Code", "not_found").but("Invalid purchase code", "Not found"),
		"an encoded slash leads elsewhere":         anItem().as("GET", "/api/items%2Fitem", 500),
	} {
		expect.NoErrorf(t, r.check(o), "%s", rule)
	}
}

func TestOracleRejects(t *testing.T) {
	o := storeOracle(t)
	double := anItem()
	double.header = double.header.Clone()
	double.header.Add("Etag", `"other"`)
	for rule, c := range map[string]struct {
		reply reply
		why   string
	}{
		"a missing member":                  {anItem().but(`"category":"c",`, ``), "category"},
		"a missing member far down":         {aPurchase().but(`"extended":199.00`, `"extra":1`), "extended"},
		"an extra member":                   {anItem().but(`"id":7`, `"id":7,"kind":"other"`), "kind"},
		"an extra member of the envelope":   {aRefusal().but(`{`, `{"code":"x",`), "code"},
		"null for an absent member":         {aPurchase().but(`"2025-04-27T12:00:00Z"`, `null`), "supported_until"},
		"another message":                   {aRefusal().but("Invalid purchase code", "Invalid request"), "msg"},
		"another message with status 200":   {alwaysOK().but("Invalid purchase code", "Item Not Found"), "msg"},
		"a success with an error's status":  {aPurchase().as("POST", "/api/purchases/validation", 404).with("X-Error-Code", "purchase_not_found"), "status"},
		"half a cent":                       {anItem().but("49.00", "49.005"), "multipleOf"},
		"money as text":                     {anItem().but("49.00", `"49.00"`), "number"},
		"a bare version":                    {anItem().but(`"1.2.3"`, `1.2`), "version"},
		"a version of five parts":           {anItem().but(`"1.2.3"`, `"1.2.3.4.5"`), "version"},
		"a version without digits":          {anItem().but(`"1.2.3"`, `"new"`), "version"},
		"a timestamp with fractions":        {anItem().but(`12:00:00Z`, `12:00:00.5Z`), "published_at"},
		"a picture of a sound":              {anItem().but(`"preview_image"`, `"preview_audio":"https://x.example/a.mp3","preview_image"`), "preview_audio"},
		"an empty list of screenshots":      {anItem().but(`"preview_image"`, `"screenshots":[],"preview_image"`), "screenshots"},
		"trailing data":                     {anItem().but(`"status"`, `"status":"success"}{"status"`), "not JSON"},
		"a status that is not listed":       {aRefusal().as("POST", "/api/purchases/validation", 418), "does not list this status"},
		"a 404 where none can be":           {aRefusal().as("GET", "/api/account/details", 404), "does not list this status"},
		"a 405 to a method that is listed":  {wrongMethod().as("GET", "/api/items/all", 405), "does not list this status"},
		"another status to a wrong method":  {aRefusal().as("PUT", "/api/items/all", 404), "405"},
		"a 405 without Allow":               {wrongMethod().with("Allow", ""), "Allow is missing"},
		"an Allow that is no list":          {wrongMethod().with("Allow", "all"), "Allow"},
		"an error without its code":         {aRefusal().with("X-Error-Code", ""), "X-Error-Code is missing"},
		"another endpoint's code":           {aRefusal().with("X-Error-Code", "item_not_found"), "X-Error-Code"},
		"an answer without X-Request-Id":    {anItem().with("X-Request-Id", ""), "X-Request-Id is missing"},
		"a validation that may be kept":     {aPurchase().with("Cache-Control", "private, no-cache"), "Cache-Control"},
		"a validation with an ETag":         {aPurchase().with("ETag", `"abc"`), "does not belong here"},
		"a read without ETag":               {anItem().with("ETag", ""), "ETag"},
		"a weak ETag":                       {anItem().with("ETag", `W/"abc"`), "Etag"},
		"two ETags":                         {double, "more than once"},
		"a success with an error's code":    {aPurchase().with("X-Error-Code", "bad_body"), "status"},
		"a success with Retry-After":        {aPurchase().with("Retry-After", "3"), "Retry-After"},
		"an error with 200 and no code":     {alwaysOK().with("X-Error-Code", ""), "status"},
		"a limit that does not say when":    {limited().with("Retry-After", ""), "Retry-After is missing"},
		"a wait that is not in seconds":     {limited().with("Retry-After", "soon"), "not a number"},
		"a wait of no time":                 {limited().with("Retry-After", "0"), "Retry-After"},
		"a page":                            {aRefusal().with("Content-Type", "text/html"), "Content-Type"},
		"a HEAD with a body":                {anItem().as("HEAD", "/api/items/item", 200), "want none"},
		"a 304 with a body":                 {reply{"GET", "/api/items/all", 304, notModified().header, "{}"}, "want none"},
		"a 304 without ETag":                {notModified().with("ETag", ""), "Etag is missing"},
		"an empty body":                     {reply{"GET", "/api/items/item", 200, anItem().header, ""}, "not JSON"},
		"an empty list of items":            {anItem().as("GET", "/api/items/all", 200).but(anItem().body, `{"status":"success","items":[]}`), "items"},
		"a kept error with status 200":      {reply{"GET", "/api/items/item", 200, anItem().with("X-Error-Code", "item_not_found").header, `{"status":"error","msg":"Item Not Found"}`}, "Cache-Control"},
		"a listed path that leads nowhere":  {aRefusal().with("X-Error-Code", "not_found").but("Invalid purchase code", "Not found"), "X-Error-Code"},
		"the same with a slash at its end":  {aRefusal().as("POST", "/api/purchases/validation/", 404).with("X-Error-Code", "not_found").but("Invalid purchase code", "Not found"), "X-Error-Code"},
		"a wrong answer behind an odd path": {aRefusal().as("POST", "/api//purchases/validation/?x", 418), "does not list this status"},
	} {
		err := c.reply.check(o)
		if err == nil {
			t.Errorf("%s: accepted", rule)
		} else if !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: rejected, but not for %q: %v", rule, c.why, err)
		}
	}
}

func (r reply) check(o *Oracle) error {
	return o.Check(r.method, r.path, r.status, r.header, []byte(r.body))
}

func TestNewOracleRefusesABrokenDocument(t *testing.T) {
	const rest = `,"components":{"responses":{"MethodNotAllowed":{"description":"no"}}}}`
	get := func(responses string) string {
		return `{"paths":{"/a":{"parameters":[],"get":{"responses":` + responses + `}}}` + rest
	}
	for rule, c := range map[string]struct{ document, why string }{
		"not JSON":                      {`{`, "unexpected"},
		"no paths":                      {`{"paths":{}` + rest, "no paths"},
		"no MethodNotAllowed":           {`{"paths":{"/a":{}}}`, "MethodNotAllowed"},
		"a reference to nothing":        {get(`{"200":{"$ref":"#/components/responses/Gone"}}`), "Gone"},
		"a reference to another file":   {get(`{"200":{"$ref":"other.json#/x"}}`), "another document"},
		"references in a circle":        {get(`{"200":{"$ref":"#/paths/~1a/get/responses/200"}}`), "circle"},
		"a body that is not JSON":       {get(`{"200":{"content":{"text/html":{}}}}`), "schema"},
		"a schema that is none":         {get(`{"200":{"content":{"application/json":{"schema":{"type":"money"}}}}}`), "metaschema"},
		"a schema that leads nowhere":   {get(`{"200":{"content":{"application/json":{"schema":{"$ref":"#/x"}}}}}`), "#/x"},
		"a header without a schema":     {get(`{"200":{"headers":{"ETag":{}}}}`), "header ETag"},
		"a header that leads elsewhere": {get(`{"200":{"headers":{"ETag":{"$ref":"#/components/headers/E"}}}}`), "header ETag"},
	} {
		if _, err := NewOracle([]byte(c.document)); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: error %v, want one about %q", rule, err, c.why)
		}
	}
	if _, err := NewOracle([]byte(get(`{"200":{"description":"fine"}}`))); err != nil {
		t.Errorf("a whole document: %v", err)
	}
}

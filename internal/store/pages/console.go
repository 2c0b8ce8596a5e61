package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/requests"
	"github.com/countersign/countersign/internal/store/snippet"
)

// consolePath is the address of the console, with a query.
func consolePath(ws store.WorkspaceRole, query string) string {
	return workspacePath(ws.Account.Username, "/console"+query)
}

// endpoint is an endpoint of the API that the console calls.
type endpoint struct {
	path, label string
	post        bool
	// param is its parameter besides the key, "" for none.
	param frame.Field
	// member is that of a success, and notFound what the status 404 means.
	member, notFound string
}

// endpoints are those of the console, the most used first.
var endpoints = []endpoint{
	{
		path: "/api/purchases/validation", label: "Validate a purchase code", post: true, member: "data", notFound: "the purchase code is not valid",
		param: frame.Field{Name: "purchase_code", Label: "Purchase code", Help: "As a buyer would type it."},
	},
	{
		path: "/api/items/item", label: "One item", member: "item", notFound: "no such item",
		param: frame.Field{Name: "item_id", Label: "Item id", Help: "A whole number."},
	},
	{path: "/api/items/all", label: "All items", member: "items", notFound: "the workspace has no items"},
	{path: "/api/account/details", label: "Account", member: "data", notFound: "not used here"},
}

// endpointOf is the endpoint of a path, the first one for any other.
func endpointOf(path string) endpoint {
	at := slices.IndexFunc(endpoints, func(e endpoint) bool { return e.path == path })
	return endpoints[max(at, 0)]
}

// call is a call at an address, with the value of the parameter.
func (e endpoint) call(address, value string) snippet.Call {
	c := snippet.Call{URL: address, Post: e.post, Member: e.member, NotFound: e.notFound}
	if e.param.Name != "" {
		c.Params = []snippet.Param{{Name: e.param.Name, Value: value}}
	}
	return c
}

// method is that of the endpoint.
func (e endpoint) method() string {
	if e.post {
		return http.MethodPost
	}
	return http.MethodGet
}

// The places where a call has its key.
const (
	placeBearer = "bearer"
	placeHeader = "header"
	placeJSON   = "json"
	placeForm   = "form"
	placeQuery  = "query"
)

var keyPlaces = []frame.Choice{
	{Value: placeBearer, Label: "Header Authorization: Bearer"}, {Value: placeHeader, Label: "Header X-Api-Key"},
	{Value: placeJSON, Label: "JSON body"}, {Value: placeForm, Label: "Form body"}, {Value: placeQuery, Label: "Query string"},
}

// loggedPlaces are the places of keys as the log has them. It does not tell JSON from a form.
var loggedPlaces = map[requests.Place]string{
	requests.InAuthorization: placeBearer, requests.InHeader: placeHeader, requests.InBody: placeForm, requests.InQuery: placeQuery,
}

// console is what the page shows. It never has the value of a key.
type console struct {
	ws       store.WorkspaceRole
	endpoint endpoint
	keys     []store.Key
	in       url.Values
	errs     frame.Errors
	result   *apiResult // nil before a call
	codes    []frame.Code
	log      bool // calls are logged
}

func (p *Pages) showConsole(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	if err := p.store.MayManage(r.Context(), r.Actor, ws.Account.Username); err != nil {
		return err
	}
	in := r.URL.Query()
	if from := in.Get("from"); from != "" {
		repeated, err := p.loggedCall(r, ws, from)
		if err != nil {
			return err
		}
		in = repeated
	} else if err := p.addSamples(r, ws, in); err != nil {
		return err
	}
	page, err := p.consolePage(w, r, &console{ws: ws, in: in})
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, page)
}

// consolePage is the page with the form as typed, and the code of the same call.
func (p *Pages) consolePage(w http.ResponseWriter, r *frame.Request, c *console) (page frame.Page, err error) {
	c.endpoint, c.log = endpointOf(c.in.Get("endpoint")), p.store.Requests.On()
	if c.keys, err = p.store.Keys(r.Context(), r.Actor, c.ws.Account.Username); err != nil {
		return page, err
	}
	call := c.endpoint.call(p.frame.Address(w, r, c.endpoint.path), strings.TrimSpace(c.in.Get(c.endpoint.param.Name)))
	for _, l := range snippet.Languages() {
		text, err := l.Write(call)
		if err != nil {
			return page, err
		}
		c.codes = append(c.codes, frame.Code{Name: "code-" + l.Name, Label: l.Label, Text: text})
	}
	return frame.Page{
		Title: "Console", Crumbs: []frame.Link{workspaceCrumb(c.ws)}, Body: p.consoleView(c),
		Lead: "Call the API with a key of this workspace. The calls are logged and counted as those of programs are.",
	}, nil
}

// addSamples adds what the endpoints find: the newest purchase, and an item.
func (p *Pages) addSamples(r *frame.Request, ws store.WorkspaceRole, in url.Values) error {
	sold, err := p.store.ListPurchases(r.Context(), r.Actor, ws.Account.Username, store.PurchaseFilter{Limit: 1}, store.PurchasePlace{})
	if err != nil {
		return err
	}
	items, err := p.store.PageItems(r.Context(), r.Actor, ws.Account.Username, store.ItemFilter{Limit: 1})
	if err != nil {
		return err
	}
	if len(sold.Purchases) > 0 && !in.Has("purchase_code") {
		in.Set("purchase_code", sold.Purchases[0].Code)
	}
	if len(items.Items) > 0 && !in.Has("item_id") {
		in.Set("item_id", strconv.FormatInt(items.Items[0].ID, 10))
	}
	return nil
}

// loggedCall is the form of a call in the log, without its secrets, which the log does not have.
func (p *Pages) loggedCall(r *frame.Request, ws store.WorkspaceRole, id string) (url.Values, error) {
	c, err := p.store.Requests.Call(r.Context(), r.Actor, ws.ID, id)
	if err != nil {
		return nil, err
	}
	in := url.Values{"endpoint": {c.Endpoint}, "key": {strconv.FormatInt(c.Key, 10)}, "from": {id}}
	for _, s := range c.Sent {
		switch {
		case s.Name == "api_key" && !in.Has("place"):
			in.Set("place", loggedPlaces[s.Place])
		case s.Name == "item_id" && idOf(s.Value) != 0:
			in.Set("item_id", s.Value)
		}
	}
	return in, nil
}

// callAPI answers a posted form with the page and the API's response, whatever that is.
func (p *Pages) callAPI(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	if err := p.store.MayManage(r.Context(), r.Actor, ws.Account.Username); err != nil {
		return err
	}
	return p.frame.Submit(w, r, frame.Form{
		Check: frame.Required("key", "Choose a key."), Fields: []string{"key"}, About: map[string]string{"key": "key"},
		Again: func(in url.Values, wrong frame.Errors) (frame.Page, error) {
			return p.consolePage(w, r, &console{ws: ws, in: in, errs: wrong})
		},
		Do: func(in url.Values) error {
			e := endpointOf(in.Get("endpoint"))
			value, err := p.store.KeyForCall(r.Context(), r.Actor, idOf(in.Get("key")), e.path)
			if err != nil {
				return err
			}
			call := apiCall{endpoint: e, key: value, place: in.Get("place"), value: in.Get(e.param.Name)}
			result, err := p.call(r, call)
			if err != nil {
				return err
			}
			page, err := p.consolePage(w, r, &console{ws: ws, in: in, result: result})
			if err != nil {
				return err
			}
			return p.frame.Show(w, r, page)
		},
	})
}

func (c *console) tabs() frame.Tabs {
	t := frame.Tabs{Label: "Endpoints"}
	for _, e := range endpoints {
		link := frame.Link{Label: e.label, Path: consolePath(c.ws, "?"+url.Values{"endpoint": {e.path}}.Encode())}
		if e.path == c.endpoint.path {
			t.Current = link.Path
		}
		t.Links = append(t.Links, link)
	}
	return t
}

// keyChoices are the keys: secret ones first, and last those that don't work, because that can
// be tried, too.
func (p *Pages) keyChoices(c *console) []frame.Choice {
	var secret, publishable, ended []frame.Choice
	for _, k := range c.keys {
		choice := frame.Choice{Value: strconv.FormatInt(k.ID, 10), Label: k.Name + " (" + keyClass(k) + ")"}
		switch state := store.KeyStateAt(k, p.frame.Now()); {
		case state != store.KeyActive:
			choice.Label += ", " + string(state)
			ended = append(ended, choice)
		case k.Class == store.ClassSecret:
			secret = append(secret, choice)
		default:
			publishable = append(publishable, choice)
		}
	}
	return slices.Concat(secret, publishable, ended)
}

// param is the field of the endpoint's parameter, as typed.
func (c *console) param() frame.Field {
	f := c.endpoint.param
	f.Value, f.Code = c.in.Get(f.Name), true
	if c.in.Has("from") && f.Name == "purchase_code" {
		f.Help = "The log does not keep purchase codes: type it."
	}
	return f
}

// repeatable reports whether the reader can make a call again in the console.
func (one oneRequest) repeatable() bool {
	return isManager(one.ws) && one.key != "" && endpointOf(one.Endpoint).path == one.Endpoint
}

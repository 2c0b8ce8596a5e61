package api

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/web"
)

// orPage is a handler for programs at an address that also is a page.
func (f *frontEnd) orPage(h web.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if f.Pages != nil && wantsPage(r) {
			f.Pages.ServeHTTP(w, r)
			return nil
		}
		return h(w, r)
	}
}

// postOnly refuses a program where only browsers may look: they get the page with
// the form that is sent here.
func postOnly(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Allow", "POST, OPTIONS")
	return fault.New(countersign.KindMethodNotAllowed, countersign.CodeMethodNotAllowed, countersign.MsgMethodNotAllowed)
}

// wantsPage reports whether the client is a browser, which prefers HTML to JSON in
// Accept. A program's headers or a JSON body mean a program, whatever its Accept.
// Authorization means nothing: a browser repeats the password of a proxy there.
func wantsPage(r *http.Request) bool {
	for _, name := range []string{"X-Api-Key", "X-Update-Token"} {
		if r.Header[name] != nil {
			return false
		}
	}
	if web.SaysJSON(r.Header.Get("Content-Type")) {
		return false
	}
	page, program := liking(r.Header["Accept"], "text/html"), liking(r.Header["Accept"], "application/json")
	return page > program
}

// liking is the weight that Accept gives a media type (RFC 9110, 12.5.1): of the
// most exact range that it falls under. Without Accept it is 1; a weight that can't
// be read is 0.
func liking(accept []string, media string) float64 {
	if len(accept) == 0 {
		return 1
	}
	group, _, _ := strings.Cut(media, "/")
	exactness, weight := 0, 0.0
	for one := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		name, parameters, _ := strings.Cut(one, ";")
		exact := 0
		switch strings.ToLower(strings.TrimSpace(name)) {
		case media:
			exact = 3
		case group + "/*":
			exact = 2
		case "*/*":
			exact = 1
		}
		if exact > exactness {
			exactness, weight = exact, weightOf(parameters)
		}
	}
	return weight
}

// weightOf reads q from the parameters of a media range; 1 without it.
func weightOf(parameters string) float64 {
	for one := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(one), "=")
		if !strings.EqualFold(name, "q") {
			continue
		}
		q, err := strconv.ParseFloat(value, 64)
		if err != nil || !(q >= 0 && q <= 1) {
			return 0
		}
		return q
	}
	return 1
}

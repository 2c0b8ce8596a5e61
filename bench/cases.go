package main

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/store/sample"
)

// The names of cases that something is promised for.
const (
	caseWarm    = "validation, warm, Zipf over 100,000 codes"
	caseCold    = "validation, uniform, --cache 0"
	caseInvalid = "invalid codes"
	caseBadKeys = "bad keys"
	caseMixed   = "mixed: 90 % good (Zipf), 9 % bad, 1 % writes"
	caseMinute  = "mixed, for a minute"
)

// benchCase is one kind of load.
type benchCase struct {
	name string
	// next makes the requests of one connection.
	next func(*rand.Rand) request
	// addon measures the addon in place of the store.
	addon bool
	// serve adds flags to the store's.
	serve []string
	// revalidate repeats the first answer's ETag in every request.
	revalidate bool
	// file makes the floor serve the first answer's bytes from a file, neither of
	// them compressed: both write the same bytes, so the ratio is one per byte, too.
	file bool
	// turn is the length of the one turn that counts, 0 for the turns of all cases.
	turn time.Duration
	// warm is how many of the requests warmBy are asked once before anything counts.
	warm   int
	warmBy func(int) request
}

func validation(key, code string, status int, contains string) request {
	form := "purchase_code=" + code
	return request{
		bytes: fmt.Appendf(nil, "POST /api/purchases/validation HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: %s\r\n"+
			"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s", key, len(form), form),
		status: status, contains: []byte(contains),
	}
}

func get(target, key string, contains string) request {
	return request{
		bytes:  fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: %s\r\n\r\n", target, key),
		status: http.StatusOK, contains: []byte(contains),
	}
}

func valid(i int) request {
	code := sample.BigCode(i)
	return validation(sample.BigKey(), code, http.StatusOK, code)
}

func invalid(r *rand.Rand) request {
	return validation(sample.BigKey(), fmt.Sprintf("%016x-%016x", r.Uint64(), r.Uint64()), http.StatusNotFound, "Invalid purchase code")
}

func badKey(r *rand.Rand) request {
	return validation(fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64()), sample.BigCode(0), http.StatusUnauthorized, "Invalid request")
}

// issue is a write: a license for a purchase. One for the same purchase and
// domain once more is none, so a small store that is measured again and again sees
// fewer and fewer writes.
func issue(r *rand.Rand, purchases int) request {
	code := sample.BigCode(r.IntN(purchases))
	form := "purchase_code=" + code + "&domain=d" + code[:8] + ".example"
	return request{
		bytes: fmt.Appendf(nil, "POST /api/licenses HTTP/1.1\r\nHost: localhost\r\n"+
			"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s", len(form), form),
		status: http.StatusOK, contains: []byte(`"license":"`),
	}
}

// zipf draws from the first codes, as Zipf's law with exponent 1.01.
func zipf(top int) func(*rand.Rand) request {
	return func(r *rand.Rand) request {
		// The inverse of the continuous law: close enough, and without state.
		const s = 1.01
		u := r.Float64()
		x := math.Pow(1-u*(1-math.Pow(float64(top), 1-s)), 1/(1-s))
		return valid(min(top-1, int(x)-1))
	}
}

func cases(s settings) []benchCase {
	all := append(validations(s), benchCase{
		name: "account/details", next: always(get("/api/account/details", sample.BigKey(), `"username":"warehouse"`)),
	}, benchCase{
		name: "items/item", next: func(r *rand.Rand) request {
			id := sample.BigItem(r.IntN(s.items))
			return get(fmt.Sprintf("/api/items/item?item_id=%d", id), sample.BigKey(), fmt.Sprintf(`"id":%d,`, id))
		},
	})
	all = append(append(all, lists()...), benchCase{
		name: "app/settings of the addon", addon: true, next: always(request{
			bytes:  []byte("GET /api-addons/app/settings HTTP/1.1\r\nHost: localhost\r\n\r\n"),
			status: http.StatusOK, contains: []byte(`"appName":"Tuneful"`),
		}),
	})
	var wanted []benchCase
	for _, c := range all {
		measured := s.baseline == "" || slices.Contains(baselineCases, c.name)
		if measured && strings.Contains(c.name, s.only) {
			wanted = append(wanted, c)
		}
	}
	return wanted
}

func always(q request) func(*rand.Rand) request { return func(*rand.Rand) request { return q } }

func validations(s settings) []benchCase {
	hot := min(s.purchases, 100_000)
	uniform := func(r *rand.Rand) request { return valid(r.IntN(s.purchases)) }
	// A process has to meet most of a large file before a lookup costs what it will.
	few := max(1, s.purchases/20)
	anyCode := func(int) request { return valid(rand.IntN(s.purchases)) }
	mixed := func(good func(*rand.Rand) request) func(*rand.Rand) request {
		return func(r *rand.Rand) request {
			switch n := r.IntN(100); {
			case n == 0:
				return issue(r, s.purchases)
			case n < 10:
				return invalid(r)
			}
			return good(r)
		}
	}
	all := []benchCase{
		{name: caseWarm, next: zipf(hot), warm: hot, warmBy: valid},
		{name: "validation, uniform over all codes", next: uniform, warm: few, warmBy: anyCode},
		{name: caseCold, next: uniform, serve: []string{"--cache", "0"}, warm: few, warmBy: anyCode},
		{name: caseInvalid, next: invalid},
		{name: caseBadKeys, next: badKey},
		{name: caseMixed, next: mixed(zipf(hot)), warm: hot, warmBy: valid},
		{name: "the same, valid codes uniform", next: mixed(uniform)},
	}
	if s.minute {
		all = append(all, benchCase{name: caseMinute, next: mixed(zipf(hot)), warm: hot, warmBy: valid, turn: time.Minute})
	}
	return all
}

func lists() []benchCase {
	var all []benchCase
	for _, size := range listSizes {
		q := get("/api/items/all", sample.SecretKey(listWorkspace(size)), `"items":[`)
		all = append(all, benchCase{name: fmt.Sprintf("items/all, %d items", size), next: always(q), file: size == 10_000},
			benchCase{name: fmt.Sprintf("items/all, %d items, 304", size), next: always(q), revalidate: true})
	}
	return all
}

// withETag makes requests that ask whether a tag is still good.
func withETag(q request, tag string) request {
	text := strings.Replace(string(q.bytes), "\r\n\r\n", "\r\nIf-None-Match: "+tag+"\r\n\r\n", 1)
	return request{bytes: []byte(text), status: http.StatusNotModified}
}

// roundTrip sends one request on a connection of its own.
func roundTrip(address string, q request) (*http.Response, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write(q.bytes); err != nil {
		return nil, err
	}
	return http.ReadResponse(bufio.NewReader(conn), nil)
}

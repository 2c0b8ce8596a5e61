package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/store/sample"
)

// The names of cases that have a bound.
const (
	caseWarm    = "validation, warm, Zipf over 100,000 codes"
	caseUniform = "validation, uniform over all codes"
	caseCold    = "validation, uniform, --cache 0"
	caseInvalid = "invalid codes"
	caseBadKeys = "bad keys"
	caseMixed   = "mixed: 90 % valid (Zipf), 9 % invalid, 1 % writes"
	caseMinute  = "mixed, for a minute"
	// caseMembership is of the addon.
	caseMembership = "iap/membership of the addon"
)

// benchCase is one kind of load.
type benchCase struct {
	name string
	// next makes the requests of one connection.
	next func(*rand.Rand) request
	// addon measures the addon in place of the store.
	addon bool
	// begin makes next once the server runs, nil for a case that knows its requests.
	begin func(ctx context.Context, s *shop, address string) (func(*rand.Rand) request, error)
	// serve adds flags to the store's.
	serve []string
	// revalidate repeats the first response's ETag in every request.
	revalidate bool
	// file makes the floor serve the first response's bytes from a file, neither of
	// them compressed: both write the same bytes, so the ratio is one per byte, too.
	file bool
	// turn is the length of the one turn that counts, 0 for the turns of all cases.
	turn time.Duration
	// warm is how many of the requests warmBy are sent once before anything counts.
	warm   int
	warmBy func(int) request
}

// form is a POST request with an urlencoded form. Without a key it has no X-Api-Key.
func form(path, key, body string, status int, contains string) request {
	if key != "" {
		key = "X-Api-Key: " + key + "\r\n"
	}
	return request{
		bytes: fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s",
			path, key, len(body), body),
		status: status, contains: []byte(contains),
	}
}

func validation(key, code string, status int, contains string) request {
	return form("/api/purchases/validation", key, "purchase_code="+code, status, contains)
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

// issue is a write: a license for a purchase. A second one for the same purchase and
// domain writes nothing, so in a small store writes become rare.
func issue(r *rand.Rand, purchases int) request {
	code := sample.BigCode(r.IntN(purchases))
	return form("/api/licenses", "", "purchase_code="+code+"&domain=d"+code[:8]+".example", http.StatusOK, `"license":"`)
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
	}, benchCase{
		name: caseMembership, addon: true, begin: func(ctx context.Context, s *shop, address string) (func(*rand.Rand) request, error) {
			return s.readMemberships(ctx, address)
		},
	})
	var wanted []benchCase
	for _, c := range all {
		measured := s.mode != modeBaseline && s.mode != modeLog || slices.Contains(map[mode][]string{modeBaseline: baselineCases, modeLog: logCases}[s.mode], c.name)
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
	// Until most of a large file was read once, a lookup is more expensive.
	few := max(1, s.purchases/20)
	anyCode := func(int) request { return valid(rand.IntN(s.purchases)) }
	mixed := func(validCode func(*rand.Rand) request) func(*rand.Rand) request {
		return func(r *rand.Rand) request {
			switch n := r.IntN(100); {
			case n == 0:
				return issue(r, s.purchases)
			case n < 10:
				return invalid(r)
			}
			return validCode(r)
		}
	}
	all := []benchCase{
		{name: caseWarm, next: zipf(hot), warm: hot, warmBy: valid},
		{name: caseUniform, next: uniform, warm: few, warmBy: anyCode},
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

// withETag adds the condition that a tag is not current.
func withETag(q request, tag string) request {
	text := strings.Replace(string(q.bytes), "\r\n\r\n", "\r\nIf-None-Match: "+tag+"\r\n\r\n", 1)
	return request{bytes: []byte(text), status: http.StatusNotModified}
}

// answerOf sends one request on a connection of its own and returns the whole response.
func answerOf(address string, q request) (a floorAnswer, err error) {
	conn, err := dial(address)
	if err != nil {
		return a, err
	}
	defer conn.Close()
	if _, err := conn.Write(q.bytes); err != nil {
		return a, err
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return a, err
	}
	body, err := io.ReadAll(answer.Body)
	if err == nil && (answer.StatusCode != q.status || !bytes.Contains(body, q.contains)) {
		err = fmt.Errorf("status %d, expected %d: %.200s", answer.StatusCode, q.status, body)
	}
	answer.Header.Del("Date") // net/http adds its own
	return floorAnswer{Status: answer.StatusCode, Header: answer.Header, Body: body}, err
}

package main

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/countersign/countersign/internal/store/sample"
)

// benchCase is one kind of load.
type benchCase struct {
	name string
	// next makes the requests of one connection.
	next func(*rand.Rand) request
	// serve adds flags to the store's.
	serve []string
	// revalidate repeats the first answer's ETag in every request.
	revalidate bool
	// file makes the floor serve the first answer's bytes from a file.
	file bool
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

// zipf draws from the first 100,000 codes, as Zipf's law with exponent 1.01.
func zipf(n int) func(*rand.Rand) request {
	top := min(n, 100_000)
	return func(r *rand.Rand) request {
		// The inverse of the continuous law: close enough, and without state.
		const s = 1.01
		u := r.Float64()
		x := math.Pow(1-u*(1-math.Pow(float64(top), 1-s)), 1/(1-s))
		return valid(min(top-1, int(x)-1))
	}
}

func cases(s settings) []benchCase {
	uniform := func(r *rand.Rand) request { return valid(r.IntN(s.purchases)) }
	always := func(q request) func(*rand.Rand) request { return func(*rand.Rand) request { return q } }
	all := []benchCase{
		{name: "validation, Zipf over 100,000 codes", next: zipf(s.purchases)},
		{name: "validation, uniform over all codes", next: uniform},
		{name: "invalid codes", next: invalid},
		{name: "bad keys", next: badKey},
		{name: "mixed: 90 % good, 10 % bad", next: func(r *rand.Rand) request {
			if r.IntN(10) == 0 {
				return invalid(r)
			}
			return uniform(r)
		}},
		{name: "account/details", next: always(get("/api/account/details", sample.BigKey(), `"username":"warehouse"`))},
		{name: "items/item", next: func(r *rand.Rand) request {
			id := sample.BigItem(r.IntN(s.items))
			return get(fmt.Sprintf("/api/items/item?item_id=%d", id), sample.BigKey(), fmt.Sprintf(`"id":%d,`, id))
		}},
	}
	for _, size := range listSizes {
		q := get("/api/items/all", sample.SecretKey(listWorkspace(size)), `"items":[`)
		all = append(all, benchCase{name: fmt.Sprintf("items/all, %d items", size), next: always(q), file: size == 10_000},
			benchCase{name: fmt.Sprintf("items/all, %d items, 304", size), next: always(q), revalidate: true})
	}
	var wanted []benchCase
	for _, c := range all {
		if strings.Contains(c.name, s.only) {
			wanted = append(wanted, c)
		}
	}
	return wanted
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

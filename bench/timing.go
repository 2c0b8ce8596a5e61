package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/store/sample"
)

const (
	// timingPairs are the pairs that count, and timingWarm those sent before them.
	timingPairs = 20_000
	timingWarm  = 1000
	// timingStore is how many purchases the store has beside the refunded ones.
	timingStore = 100_000
	// leak is the |t| from which two kinds of codes are told apart by their times.
	leak = 4.5
)

// timingCase compares what two kinds of codes take, which a caller must not tell apart.
type timingCase struct {
	Name string `json:"name"`
	path string
	// kind is the code that is compared to an unknown one; both are as long as they are
	// sent. It is given numbers that are never the same twice.
	kind   func(i int) string
	key    string
	status int
}

// timing is what a case came to. Means are in seconds.
type timing struct {
	timingCase
	Pairs       int     `json:"pairs"`
	LeftOut     int     `json:"left_out"`
	Bound       float64 `json:"bound_seconds"`
	Mean        float64 `json:"mean_seconds"`
	MeanUnknown float64 `json:"mean_unknown_seconds"`
	T           float64 `json:"t"`
	// Untrimmed is t of all pairs.
	Untrimmed float64 `json:"t_of_all_pairs"`
}

// The codes. One that is unknown and one that is malformed end in as many escapes.
func refundedCode(i int) string  { return escaped(sample.BigCode(1_000_000_000 + i)) }
func unknownCode(i int) string   { return escaped(sample.BigCode(2_000_000_000 + i)) }
func malformedCode(i int) string { return sample.BigCode(2_000_000_000 + i)[:34] + "%C3%A9" } // é

// escaped writes the last two signs of a code as escapes.
func escaped(code string) string {
	return fmt.Sprintf("%s%%%02X%%%02X", code[:34], code[34], code[35])
}

func timingCases() []timingCase {
	return []timingCase{
		{Name: "malformed, POST /api/purchases/validation", path: "/api/purchases/validation", kind: malformedCode, key: sample.BigKey(), status: 404},
		{Name: "malformed, POST /api/licenses", path: "/api/licenses", kind: malformedCode, status: 404},
		{Name: "malformed, POST /api/licenses/check", path: "/api/licenses/check", kind: malformedCode, status: 200},
		{Name: "refunded, POST /api/licenses", path: "/api/licenses", kind: refundedCode, status: 404},
		{Name: "refunded, POST /api/licenses/check", path: "/api/licenses/check", kind: refundedCode, status: 200},
	}
}

func (c timingCase) request(code string) []byte {
	body := "purchase_code=" + code + "&domain=shop.example"
	key := ""
	if c.key != "" {
		key = "X-Api-Key: " + c.key + "\r\n"
	}
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s",
		c.path, key, len(body), body)
}

// measureTiming compares the times of all cases, on a server that nothing else asks.
func (s *shop) measureTiming(ctx context.Context) ([]timing, error) {
	if err := s.fillRefunded(ctx); err != nil {
		return nil, err
	}
	server, err := s.serve(ctx)
	if err != nil {
		return nil, err
	}
	defer server.stop()
	if err := waitReady(ctx, server.address); err != nil {
		return nil, err
	}
	var all []timing
	for _, c := range timingCases() {
		pairs, err := timePairs(ctx, server.address, c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		all = append(all, timingOf(c, pairs))
	}
	return all, nil
}

// fillRefunded adds purchases that were refunded.
func (s *shop) fillRefunded(ctx context.Context) error {
	path := filepath.Join(s.data, "refunded.jsonl")
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(f)
	for i := range timingPairs + timingWarm {
		fmt.Fprintf(out, `{"type":"purchase","workspace":%q,"item_id":%d,"purchase_code":%q,"license_type":"Regular","price":9.00,"currency":"USD",`+
			`"date":"2024-04-27T12:00:00Z","state":"refunded","state_at":"2024-05-27T12:00:00Z"}`+"\n",
			sample.BigWorkspace, sample.BigItem(0), sample.BigCode(1_000_000_000+i))
	}
	if err := errors.Join(out.Flush(), f.Close()); err != nil {
		return err
	}
	return s.command(ctx, "store", "import", "--quiet", path)
}

// timePairs sends pairs over one connection, the two of a pair in random order.
func timePairs(ctx context.Context, address string, c timingCase) ([]timedPair, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	ends := context.AfterFunc(ctx, func() { conn.Close() })
	defer ends()
	answers := bufio.NewReaderSize(conn, 64<<10)
	pairs := make([]timedPair, 0, timingPairs)
	var body [2][]byte
	for i := range timingWarm + timingPairs {
		requests := [2][]byte{c.request(c.kind(i)), c.request(unknownCode(i))}
		var took [2]float64
		first := rand.IntN(2)
		for _, which := range [2]int{first, 1 - first} {
			began := time.Now()
			if _, err := conn.Write(requests[which]); err != nil {
				return nil, err
			}
			status, text, err := readAnswer(answers, body[which])
			took[which] = time.Since(began).Seconds()
			if err != nil {
				return nil, err
			}
			if body[which] = text; status != c.status {
				return nil, fmt.Errorf("status %d: %.200s", status, text)
			}
		}
		if string(body[0]) != string(body[1]) {
			return nil, fmt.Errorf("the answers differ: %.200s and %.200s", body[0], body[1])
		}
		if i >= timingWarm {
			pairs = append(pairs, timedPair{took[0], took[1]})
		}
	}
	return pairs, nil
}

func timingOf(c timingCase, pairs []timedPair) timing {
	kept, bound := withoutOutliers(pairs)
	r := timing{timingCase: c, Pairs: len(pairs), LeftOut: len(pairs) - len(kept), Bound: bound}
	r.T, r.Mean, r.MeanUnknown = welch(kept)
	r.Untrimmed, _, _ = welch(pairs)
	return r
}

// printTiming prints what the cases came to. The error names those that can be told
// apart.
func printTiming(out io.Writer, engine string, all []timing) error {
	fmt.Fprintf(out, "%s, one connection, %d interleaved pairs: a code of this kind beside an unknown one. Left out are pairs of which\n"+
		"one time is above the 95th percentile of all times of both kinds. |t| is Welch's; from %.1f the kinds can be told apart.\n\n", engine, timingPairs, leak)
	fmt.Fprintf(out, "%-44s %10s %10s %7s %9s %9s %9s\n", "kind", "mean", "unknown", "t", "left out", "bound", "t of all")
	var told []string
	for _, r := range all {
		fmt.Fprintf(out, "%-44s %7.2f µs %7.2f µs %7.2f %9d %6.0f µs %9.2f\n", r.Name, r.Mean*1e6, r.MeanUnknown*1e6, r.T, r.LeftOut, r.Bound*1e6, r.Untrimmed)
		if math.Abs(r.T) >= leak {
			told = append(told, r.Name)
		}
	}
	if told != nil {
		return errors.New("told from unknown codes by their times: " + strings.Join(told, "; "))
	}
	return nil
}

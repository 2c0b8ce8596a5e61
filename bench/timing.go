package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/countersign/countersign/internal/store/sample"
)

const (
	// timingPairs are the pairs that count, and timingWarm those sent before them.
	timingPairs = 20_000
	timingWarm  = 1000
	// timingStore is how many purchases the store has without the refunded ones.
	timingStore = 100_000
	// leak is the |t| from which two kinds of codes are distinguished by their times.
	leak = 4.5
)

// timingCase compares the times of two kinds of codes, which a caller must not distinguish.
type timingCase struct {
	Name string `json:"name"`
	path string
	// kind is the code that is compared to an unknown one; both are as long as they are
	// sent. It is given numbers that are never the same twice.
	kind   func(i int) string
	key    string
	status int
}

// timing is the outcome of a case. Means are in seconds.
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

// escaped writes the last two characters of a code as escapes.
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

// times is the outcome of all cases on an engine.
type times struct {
	Engine string   `json:"engine"`
	Cases  []timing `json:"cases"`
}

// measureTiming compares the times of all cases, on a server without other requests.
func (s *shop) measureTiming(ctx context.Context) (times, error) {
	all := times{Engine: s.settings.engine()}
	if err := s.fillRefunded(ctx); err != nil {
		return all, err
	}
	server, err := s.serve(ctx)
	if err != nil {
		return all, err
	}
	defer server.stop()
	for _, c := range timingCases() {
		pairs, err := timePairs(ctx, server.address, c)
		if err != nil {
			return all, fmt.Errorf("%s: %w", c.Name, err)
		}
		kept, bound := withoutOutliers(pairs)
		r := timing{timingCase: c, Pairs: len(pairs), LeftOut: len(pairs) - len(kept), Bound: bound}
		r.T, r.Mean, r.MeanUnknown = welch(kept)
		r.Untrimmed, _, _ = welch(pairs)
		all.Cases = append(all.Cases, r)
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
	conn, err := dial(address)
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
		codes := [2]string{c.kind(i), unknownCode(i)}
		var took [2]float64
		first := rand.IntN(2)
		for _, which := range [2]int{first, 1 - first} {
			q := form(c.path, c.key, "purchase_code="+codes[which]+"&domain=shop.example", c.status, "")
			began := time.Now()
			if _, err := conn.Write(q.bytes); err != nil {
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

func (t times) print(out io.Writer) {
	fmt.Fprintf(out, "%s, one connection, %d interleaved pairs: a code of this kind beside an unknown one. A pair is omitted if one\n"+
		"of its times is above the 95th percentile of all times of both kinds. From |t| = %.1f (Welch's) on, callers can distinguish the kinds.\n\n", t.Engine, timingPairs, leak)
	w := newTable(out)
	fmt.Fprintln(w, "kind\tmean µs\tunknown µs\tt\tomitted\tbound µs\tt of all\t")
	for _, r := range t.Cases {
		fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.2f\t%d\t%.0f\t%.2f\t\n", r.Name, r.Mean*1e6, r.MeanUnknown*1e6, r.T, r.LeftOut, r.Bound*1e6, r.Untrimmed)
	}
	_ = w.Flush()
}

func (t times) missed() error {
	var all []error
	for _, r := range t.Cases {
		if math.Abs(r.T) >= leak {
			all = append(all, errors.New("distinguished from unknown codes by their times: "+r.Name))
		}
	}
	return errors.Join(all...)
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/requestid"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/requests"
	"github.com/countersign/countersign/internal/store/sample"
)

const (
	// callTime is the time over which the calls are spread, up to the fill.
	callTime = 30 * 24 * time.Hour
	// callsAhead is how many calls may wait to be written.
	callsAhead = 8192
	day        = 24 * time.Hour
)

// keepAll is for a log in which every call of the fill stays.
var keepAll = requests.Keep{For: callTime + 2*day, Calls: 1 << 40}

// fillCalls imports licenses and logs calls, unless an earlier run did, as many every day, and returns the request id
// before all of them.
func (s *shop) fillCalls(ctx context.Context, log io.Writer) (first string, err error) {
	note := filepath.Join(s.data, "calls.json")
	if f := readFilled(note); f.Calls == s.settings.calls {
		return f.First, nil
	}
	if err := s.fillLicenses(ctx, s.settings.purchases, log); err != nil {
		return "", err
	}
	fmt.Fprintf(log, "logging %d calls\n", s.settings.calls)
	end := time.Now().Truncate(time.Second)
	begin := end.Add(-callTime)
	err = s.opened(ctx, func(st *store.Store) error {
		ws, err := st.Workspace(ctx, people.Operator("bench"), sample.BigWorkspace)
		if err != nil {
			return err
		}
		keys, err := st.Keys(ctx, people.Operator("bench"), sample.BigWorkspace)
		if err != nil {
			return err
		}
		return s.logCalls(ctx, st.Requests, begin, callEntries(ws.ID, keys[0].ID, s.settings.items))
	})
	if err != nil {
		return "", err
	}
	f := filledCalls{s.settings.calls, (requestid.First(begin) - 1).String()}
	text, err := json.Marshal(f)
	if err == nil {
		err = os.WriteFile(note, text, 0o644)
	}
	return f.First, err
}

// logCalls leaves the calls to the log as fast as it writes them.
func (s *shop) logCalls(ctx context.Context, l *requests.Log, begin time.Time, entries []requests.Entry) error {
	running, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { l.Run(running); close(ended) }()
	apart := callTime / time.Duration(s.settings.calls)
	for i := range s.settings.calls {
		e := entries[(i*40_503)%len(entries)]
		e.Number = requestid.First(begin.Add(time.Duration(i)*apart)) | requestid.Number(i&(1<<20-1))
		l.Put(&e)
		for int64(i)-l.Written() >= callsAhead && ctx.Err() == nil && l.Failing() == nil {
			time.Sleep(100 * time.Microsecond) // the log has no event for written calls, and nothing is measured here
		}
	}
	stop()
	<-ended
	if l.Written() != int64(s.settings.calls) || l.Failing() != nil {
		return fmt.Errorf("%d of %d calls were logged: %v", l.Written(), s.settings.calls, l.Failing())
	}
	return ctx.Err()
}

// callEntries are calls of one workspace, from 20,000 addresses with 4 keys. One in ten fails.
func callEntries(workspace, key int64, items int) []requests.Entry {
	random := rand.New(rand.NewPCG(1, 2))
	entries := make([]requests.Entry, 1<<18)
	for i := range entries {
		address := random.Uint32N(20_000)
		e := &entries[i]
		*e = requests.Entry{
			Workspace: workspace, Key: key + random.Int64N(4), Item: sample.BigItem(random.IntN(items)), Purchase: 1 + random.Int64N(1_000_000),
			Endpoint: "/api/purchases/validation", Method: "POST", Status: 200, Took: 130 * time.Microsecond,
			Addr: netip.AddrFrom4([4]byte{10, byte(address >> 16), byte(address >> 8), byte(address)}), Agent: "GuzzleHttp/7 (PHP 8.2)",
		}
		if random.IntN(10) == 0 {
			e.Item, e.Purchase, e.Status, e.Reason = 0, 0, 404, [...]string{"purchase_not_found", "purchase_refunded", "key_scope"}[random.IntN(3)]
		}
		e.Sent.Add(requests.InHeader, "api_key", "")
		e.Sent.Add(requests.InBody, "purchase_code", sample.BigCode(i))
	}
	return entries
}

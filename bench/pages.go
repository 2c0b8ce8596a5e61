package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/sample"
)

const (
	// pageLimit is the server time of a page that the 99th percentile may reach.
	pageLimit = 50 * time.Millisecond
	// pageWarm and pageViews are how often a page is loaded before it counts, and then.
	pageWarm, pageViews = 3, 300
	// maxSteps is how many pages the way to a last page may have.
	maxSteps = 200
)

// pageUser looks at the pages.
const pageUser, pagePassword = "bench@warehouse.example", "four quiet green words"

// pageTime is the server time of a page, as a client on the same machine sees it.
type pageTime struct {
	Name string        `json:"name"`
	Path string        `json:"path"`
	P50  time.Duration `json:"p50_ns"`
	P99  time.Duration `json:"p99_ns"`
	// CPU is the processor time of the store for a view, without that of PostgreSQL.
	CPU    time.Duration `json:"cpu_ns"`
	Missed bool          `json:"missed"`
}

// pageTimes is the outcome of all pages on one engine.
type pageTimes struct {
	Engine    string     `json:"engine"`
	Purchases int        `json:"purchases"`
	Items     int        `json:"items"`
	Calls     int        `json:"calls"`
	Pages     []pageTime `json:"pages"`
}

// page is one to measure: from its path on, the last of the pages that lead to each other when last is true.
type page struct {
	name, path string
	last       bool
}

// pages are every list and every report. oldest is a day shortly after the first sale.
func (set settings) pages(key int64, first string) []page {
	at := "/w/" + sample.BigWorkspace
	item := sample.BigItem(set.items / 2)
	all := []page{
		{name: "overview", path: at},
		{name: "items", path: at + "/items"},
		{name: "items, last page", path: fmt.Sprintf("%s/items?after=%d", at, sample.BigItem(perPage))},
		{name: "items, one by name", path: fmt.Sprintf("%s/items?name=item+%d", at, set.items/2)},
		{name: "items, none by name", path: at + "/items?name=nothing"},
		{name: "items, by kind and category", path: at + "/items?kind=audio&category=warehouse"},
		{name: "items, by price", path: at + "/items?sort=-price"},
		{name: "item", path: fmt.Sprintf("%s/items/%d", at, item)},
		{name: "purchases", path: at + "/purchases"},
		{name: "purchases, last page", path: at + "/purchases?to=" + sample.BigFirstDay().Format(time.DateOnly), last: true},
		{name: "purchases of an item", path: fmt.Sprintf("%s/purchases?item=%d", at, item)},
		{name: "purchases, none ended", path: at + "/purchases?state=refunded"},
		{name: "purchases of a buyer", path: at + "/purchases?buyer=buyer77"},
		{name: "purchases of a month", path: at + "/purchases?from=2026-05-01&to=2026-05-31"},
		{name: "purchase", path: at + "/purchases/1"},
		{name: "requests", path: at + "/requests"},
		{name: "requests, last page", path: at + "/requests?after=" + first},
		{name: "requests, failed", path: at + "/requests?result=failed"},
		{name: "requests of a key", path: fmt.Sprintf("%s/requests?key=%d", at, key)},
		{name: "requests of an item", path: fmt.Sprintf("%s/requests?item=%d", at, item)},
		{name: "requests of an address, last page", path: at + "/requests?address=10.0.10.20&after=" + first},
		{name: "requests, none by error code", path: at + "/requests?reason=nothing"},
		{name: "keys", path: at + "/settings/api"},
		{name: "key", path: fmt.Sprintf("%s/settings/api/%d", at, key)},
		{name: "members", path: at + "/settings/members"},
		{name: "audit log", path: at + "/audit"},
		{name: "imports", path: at + "/import"},
		{name: "workspaces", path: "/w"},
		{name: "users", path: "/users"},
		{name: "audit log of the store", path: "/audit"},
	}
	for _, metric := range []string{"valid", "failed", "sales", "revenue", "licenses", "downloads"} {
		for _, split := range []string{"day", "item", "key", "result"} {
			if calls := metric == "valid" || metric == "failed"; !calls && (split == "key" || split == "result") || metric == "valid" && split == "result" {
				continue
			}
			for _, days := range []int{30, 365} {
				all = append(all, page{name: fmt.Sprintf("report: %s by %s, %d days", metric, split, days), path: fmt.Sprintf("%s/reports?metric=%s&split=%s&days=%d", at, metric, split, days)})
			}
		}
	}
	return slices.DeleteFunc(all, func(p page) bool { return !strings.Contains(p.name, set.only) })
}

const perPage = 50

// measurePages loads each page of the pages.
func (s *shop) measurePages(ctx context.Context, log io.Writer) (pageTimes, error) {
	t := pageTimes{Engine: s.settings.engine(), Purchases: s.settings.purchases, Items: s.settings.items, Calls: s.settings.calls}
	first, err := s.fillCalls(ctx, log)
	if err != nil {
		return t, err
	}
	key, err := s.prepareViewer(ctx)
	if err != nil {
		return t, err
	}
	server, err := s.serve(ctx)
	if err != nil {
		return t, err
	}
	defer server.stop()
	v, err := signIn(ctx, server.address)
	if err != nil {
		return t, err
	}
	for _, p := range s.settings.pages(key, first) {
		one, err := v.measure(ctx, p, server.command.Process.Pid)
		if err != nil {
			return t, fmt.Errorf("%s: %w", p.name, err)
		}
		t.Pages = append(t.Pages, one)
		fmt.Fprintf(log, "%s: %.1f ms, %.1f ms of processor time\n", one.Name, milliseconds(one.P99), milliseconds(one.CPU))
	}
	return t, nil
}

// prepareViewer creates the user, and returns the id of the workspace's key.
func (s *shop) prepareViewer(ctx context.Context) (key int64, err error) {
	err = s.opened(ctx, func(st *store.Store) error {
		harness := people.Operator("bench")
		keys, err := st.Keys(ctx, harness, sample.BigWorkspace)
		if err != nil || len(keys) == 0 {
			return errors.Join(err, errors.New("the store has no key"))
		}
		key = keys[0].ID
		if _, err := st.Instance.People.UserNamed(ctx, harness, pageUser); err == nil {
			return nil
		}
		_, err = st.Instance.People.CreateAdministrator(ctx, harness, pageUser, pagePassword)
		return err
	})
	return key, err
}

// opened runs fn with the store in this process.
func (s *shop) opened(ctx context.Context, fn func(*store.Store) error) error {
	st, err := store.Open(ctx, store.Options{Options: instance.Options{Dir: s.data, URL: s.settings.database}, RequestLog: keepAll})
	if err != nil {
		return err
	}
	err = st.Prepare(ctx)
	if err == nil {
		err = fn(st)
	}
	return errors.Join(err, st.Close())
}

// viewer is a client that has signed in.
type viewer struct {
	client  *http.Client
	address string
}

func signIn(ctx context.Context, address string) (viewer, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return viewer{}, err
	}
	v := viewer{&http.Client{Jar: jar}, address}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address+"/login", strings.NewReader(url.Values{"email": {pageUser}, "password": {pagePassword}}.Encode()))
	if err != nil {
		return v, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	_, err = v.answer(r)
	return v, err
}

// load returns a page and how long it took.
func (v viewer) load(ctx context.Context, path string) (string, time.Duration, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, v.address+path, nil)
	if err != nil {
		return "", 0, err
	}
	began := time.Now()
	text, err := v.answer(r)
	return text, time.Since(began), err
}

func (v viewer) answer(r *http.Request) (string, error) {
	answer, err := v.client.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && (answer.StatusCode != http.StatusOK || answer.Request.URL.Path == "/login") {
		err = fmt.Errorf("%s: status %d: %.300s", r.URL, answer.StatusCode, body)
	}
	return string(body), err
}

var olderLink = regexp.MustCompile(`href="([^"]+)" rel="next"`)

// measure loads a page again and again from the server with a process id.
func (v viewer) measure(ctx context.Context, p page, pid int) (t pageTime, err error) {
	for step := 0; p.last; step++ {
		text, _, err := v.load(ctx, p.path)
		next := olderLink.FindStringSubmatch(text)
		if err != nil || next == nil || step == maxSteps {
			p.last = false
			break
		}
		p.path = strings.ReplaceAll(next[1], "&amp;", "&")
	}
	t = pageTime{Name: p.name, Path: p.path}
	times := make([]time.Duration, 0, pageViews)
	for range pageWarm {
		if _, _, err := v.load(ctx, p.path); err != nil {
			return t, err
		}
	}
	before, err := usageOf(pid)
	if err != nil {
		return t, err
	}
	for range pageViews {
		_, took, err := v.load(ctx, p.path)
		if err != nil {
			return t, err
		}
		times = append(times, took)
	}
	after, err := usageOf(pid)
	if err != nil {
		return t, err
	}
	t.CPU = (after.cpu - before.cpu) / pageViews
	slices.Sort(times)
	t.P50, t.P99 = quantile(times, 0.5), quantile(times, 0.99)
	t.Missed = t.P99 > pageLimit
	return t, nil
}

func (t pageTimes) print(w io.Writer) {
	fmt.Fprintf(w, "\n%s, %d purchases, %d items, %d calls: server time of each page in milliseconds, %d views\n\n", t.Engine, t.Purchases, t.Items, t.Calls, pageViews)
	out := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(out, "Page\tp50\tp99\tCPU\t")
	for _, p := range t.Pages {
		mark := ""
		if p.Missed {
			mark = fmt.Sprintf("above %v", pageLimit)
		}
		fmt.Fprintf(out, "%s\t%.1f\t%.1f\t%.1f\t%s\n", p.Name, milliseconds(p.P50), milliseconds(p.P99), milliseconds(p.CPU), mark)
	}
	_ = out.Flush()
}

func (t pageTimes) missed() error {
	var all []error
	for _, p := range t.Pages {
		if p.Missed {
			all = append(all, fmt.Errorf("%s: the 99th percentile is %v, at most %v", p.Name, p.P99.Round(100*time.Microsecond), pageLimit))
		}
	}
	return errors.Join(all...)
}

// The first logged call of a store that was filled is in a file of its own: later runs need it.
type filledCalls struct {
	Calls int    `json:"calls"`
	First string `json:"first"`
}

func readFilled(path string) (f filledCalls) {
	if text, err := os.ReadFile(path); err == nil {
		_ = json.Unmarshal(text, &f) // a damaged file is one of no calls
	}
	return f
}

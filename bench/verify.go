package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/countersign/countersign/bench/program"
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/play/playfake"
)

const (
	// verifyRate is how many purchases are verified in a second.
	verifyRate = 200
	// verifyTurn is the shortest measurement. All caches, also those of pages that each connection
	// of SQLite has, are full in its second quarter.
	verifyTurn = 6 * time.Minute
	// playDelay is how long the simulated Play waits before each response.
	playDelay = 50 * time.Millisecond
	// steadyMemory is the highest ratio of the memory at the end to that of the second quarter.
	steadyMemory = 1.1
	// verifyProduct is what all buy.
	verifyProduct = "gold_monthly"
)

// verified is what verifications of purchases cost, each of a new purchase by a new user: the
// addon reads the subscription, stores it with the membership and the event, and acknowledges it.
type verified struct {
	Engine  string        `json:"engine"`
	Length  time.Duration `json:"length_ns"`
	Asked   int           `json:"asked"`
	Created int           `json:"created"`
	// Failed is the first response that was not as it must be, "" for none.
	Failed string `json:"failed,omitempty"`
	// PerSecond is the rate of the verifications that succeeded.
	PerSecond float64       `json:"per_second"`
	P50       time.Duration `json:"p50_ns"`
	P99       time.Duration `json:"p99_ns"`
	// CPU is the addon's processor time for each.
	CPU time.Duration `json:"cpu_per_verification_ns"`
	// Early and Late are the medians of the addon's own memory in the second and in the last
	// quarter, in bytes.
	Early int64 `json:"rss_anon_second_quarter_bytes"`
	Late  int64 `json:"rss_anon_last_quarter_bytes"`
	// Unacknowledged is how many of the purchases the simulated Play would refund.
	Unacknowledged int `json:"unacknowledged"`
}

// measureVerifications verifies purchases at a steady rate, with a simulated Play in this process.
func (s *shop) measureVerifications(ctx context.Context) (verified, error) {
	v := verified{Engine: s.settings.engine(), Length: s.settings.turn}
	store, err := playfake.New(playfake.Options{Start: time.Now().UTC()})
	if err != nil {
		return v, err
	}
	handler := store.Handler()
	play, err := serveLocally(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		program.Pause(r.Context(), playDelay)
		handler.ServeHTTP(w, r)
	}))
	if err != nil {
		return v, err
	}
	defer play.Close()
	tokens := make([]string, int(s.settings.turn.Seconds()*verifyRate))
	for i := range tokens {
		if tokens[i], err = store.Buy(playfake.BuyOptions{ProductID: verifyProduct}); err != nil {
			return v, err
		}
	}
	store.AdvanceTo(time.Now().UTC()) // selling took a while, and Play refuses what is signed later than now
	server, pair, err := s.serveSelling(ctx, store, "http://"+play.Addr)
	if err != nil {
		return v, err
	}
	defer server.stop()
	if err := v.verify(ctx, server, pair, tokens); err != nil {
		return v, err
	}
	for _, p := range store.Purchases() {
		if !p.Acknowledged {
			v.Unacknowledged++
		}
	}
	return v, nil
}

// serveLocally serves a simulated Play.
func serveLocally(h http.Handler) (*http.Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{Addr: listener.Addr().String(), Handler: h}
	go func() { _ = server.Serve(listener) }() // ends with Close
	return server, nil
}

// serveSelling starts an addon that sells what a simulated Play has, and waits until it is ready.
func (s *shop) serveSelling(ctx context.Context, store *playfake.Store, url string) (*process, credential.Values, error) {
	account, err := store.ServiceAccount()
	if err != nil {
		return nil, credential.Values{}, err
	}
	file := filepath.Join(s.settings.out, "account.json")
	if err := os.WriteFile(file, account, 0o600); err != nil {
		return nil, credential.Values{}, err
	}
	if _, err := s.program(ctx, append([]string{"addon", "update", "--quiet"}, s.addonFlags()...)...); err != nil {
		return nil, credential.Values{}, err
	}
	if err := s.addPackage(ctx); err != nil {
		return nil, credential.Values{}, err
	}
	for _, args := range [][]string{
		{"addon", "iap", "service-account", file},
		{"addon", "iap", "set", "iapEnabled", "1"},
		{"addon", "iap", "set", "iapStorePackageName", store.Package()},
		{"addon", "iap", "set", "iapProductMapJson", `{"store":{"` + verifyProduct + `":1}}`},
		{"addon", "settings", "publish", "-m", "for the measurement"},
	} {
		if _, err := s.program(ctx, append(args, s.addonFlags()...)...); err != nil {
			return nil, credential.Values{}, err
		}
	}
	pair, err := s.credentials(ctx)
	if err != nil {
		return nil, pair, err
	}
	server, err := s.startAddon(ctx, "COUNTERSIGN_PLAY_URL="+url)
	return server, pair, err
}

// verify has all purchases verified, and says what that took.
func (v *verified) verify(ctx context.Context, server *process, pair credential.Values, tokens []string) error {
	before, err := usageOf(server.command.Process.Pid)
	if err != nil {
		return err
	}
	began := time.Now()
	times, memory, err := v.send(ctx, server, pair, tokens)
	if err != nil {
		return err
	}
	v.Asked, v.Created = len(tokens), len(times)
	v.PerSecond = float64(v.Created) / time.Since(began).Seconds()
	after, err := usageOf(server.command.Process.Pid)
	v.CPU = (after.cpu - before.cpu) / time.Duration(max(1, v.Created))
	slices.Sort(times)
	v.P50, v.P99 = quantile(times, median), quantile(times, 0.99)
	quarter := len(memory) / 4
	v.Early, v.Late = middle(memory[quarter:2*quarter]), middle(memory[3*quarter:])
	return err
}

// send sends one verification after the other at the rate, whether or not the earlier ones have
// ended. It returns the times of those that succeeded, and the server's memory in each second.
func (v *verified) send(ctx context.Context, server *process, pair credential.Values, tokens []string) (times []time.Duration, memory []int64, err error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: verifyRate}, Timeout: 30 * time.Second}
	defer client.CloseIdleConnections()
	var all sync.WaitGroup
	var mu sync.Mutex
	run, tick := rand.Text(), time.NewTicker(time.Second/verifyRate)
	defer tick.Stop()
	for i, token := range tokens {
		if i%verifyRate == 0 {
			used, err := usageOf(server.command.Process.Pid)
			if err != nil {
				return nil, nil, err
			}
			memory = append(memory, used.anonymous)
		}
		all.Go(func() {
			took, err := verifyOne(ctx, client, server.address, pair, fmt.Sprintf("%s-%d", run, i), token)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				v.Failed = err.Error()
				return
			}
			times = append(times, took)
		})
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-tick.C:
		}
	}
	all.Wait()
	return times, memory, nil
}

// middle is the median of some values.
func middle(values []int64) int64 {
	values = slices.Clone(values)
	slices.Sort(values)
	return quantile(values, median)
}

// verifyOne has one purchase verified, as the app of its user.
func verifyOne(ctx context.Context, client *http.Client, address string, pair credential.Values, user, token string) (time.Duration, error) {
	text, err := json.Marshal(map[string]string{"platform": "store", "purchase_token": token, "product_id": verifyProduct})
	if err != nil {
		return 0, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address+"/api-addons/iap/verify", bytes.NewReader(text))
	if err != nil {
		return 0, err
	}
	r.Header = appHeaders(pair, user)
	r.Header.Set("Content-Type", "application/json")
	began := time.Now()
	answer, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && (answer.StatusCode != http.StatusOK || !bytes.Contains(body, []byte(`"result":"created"`))) {
		err = fmt.Errorf("%s: %.300s", answer.Status, body)
	}
	return time.Since(began), err
}

func (v verified) print(out io.Writer) {
	fmt.Fprintf(out, "\n%s, %d new purchases verified in %s, a simulated Play that responds after %s: %.0f a second (%d asked for each second), p50 %.1f ms, p99 %.1f ms, %.0f µs of the addon's processor time each; its memory %.1f MB in the second quarter, %.1f MB in the last; %d not acknowledged\n",
		v.Engine, v.Created, v.Length, playDelay, v.PerSecond, verifyRate, milliseconds(v.P50), milliseconds(v.P99), microseconds(v.CPU),
		float64(v.Early)/megabyte, float64(v.Late)/megabyte, v.Unacknowledged)
}

func (v verified) missed() error {
	switch {
	case v.Failed != "":
		return errors.New("a verification failed: " + v.Failed)
	case v.Unacknowledged > 0:
		return fmt.Errorf("%d purchases were not acknowledged", v.Unacknowledged)
	case v.PerSecond < 0.98*verifyRate:
		return fmt.Errorf("%.0f verifications a second, %d expected", v.PerSecond, verifyRate)
	case float64(v.Late) > steadyMemory*float64(v.Early):
		return fmt.Errorf("the memory grew from %d to %d bytes", v.Early, v.Late)
	}
	return nil
}

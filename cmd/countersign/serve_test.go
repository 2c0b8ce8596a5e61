package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

// running is a server in this process.
type running struct {
	t       testing.TB
	said    map[string]string // the JSON object on its first line
	stdout  *bufio.Reader
	stderr  *lockedBuffer
	cancel  context.CancelFunc
	done    chan int
	stopped bool
}

// startServer runs a command that serves and waits until it says where.
func startServer(t testing.TB, env environment, args ...string) *running {
	t.Helper()
	return startServerIn(t, "", env, args...)
}

// startServerIn is startServer in a folder in which relative paths begin.
func startServerIn(t testing.TB, dir string, env environment, args ...string) *running {
	t.Helper()
	s := startCommand(t, dir, env, append(args, "--json", "--listen", "127.0.0.1:0")...)
	line, err := s.stdout.ReadString('\n')
	if err != nil {
		t.Fatalf("it did not start: exit %d: %s", <-s.done, s.stderr)
	}
	if err := json.Unmarshal([]byte(line), &s.said); err != nil {
		t.Fatalf("the first line is %q: %v", line, err)
	}
	return s
}

func startCommand(t testing.TB, dir string, env environment, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	in, out := io.Pipe()
	s := &running{t: t, stdout: bufio.NewReader(in), stderr: new(lockedBuffer), cancel: cancel, done: make(chan int, 1)}
	go func() {
		a := &app{Console: cli.New(env.lookup, strings.NewReader(""), out, s.stderr)}
		a.Dir = dir
		code := a.execute(ctx, args)
		out.Close()
		s.done <- code
	}()
	t.Cleanup(s.end)
	return s
}

// end stops the server, if it was not stopped.
func (s *running) end() {
	if !s.stopped {
		s.stop()
	}
}

// stop interrupts the server and returns its exit code.
func (s *running) stop() int {
	s.cancel()
	return s.wait()
}

// wait waits for a server that ends by itself.
func (s *running) wait() int {
	s.stopped = true
	return <-s.done
}

func (s *running) get(path string) (status int, body string) {
	s.t.Helper()
	return fetch(s.t, s.said["store_url"]+path)
}

func fetch(t testing.TB, url string) (status int, body string) {
	t.Helper()
	r := must.Get(http.Get(url))(t)
	defer r.Body.Close()
	text := must.Get(io.ReadAll(r.Body))(t)
	return r.StatusCode, string(text)
}

// lockedBuffer is a stderr that can be read while it is written.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func TestServeSaysWhereAndEndsCleanly(t *testing.T) {
	t.Parallel()
	s := startServer(t, environment{envData: shop(t)}, "store", "serve")
	if status, body := s.get("/readyz"); status != 200 {
		t.Errorf("/readyz: %d %s", status, body)
	}
	expect.Equalf(t, s.stop(), 0, "exit: %s", s.stderr)
	if !regexp.MustCompile(`^Serving http://127\.0\.0\.1:[1-9][0-9]* \(data folder .*, SQLite\)\. Stop with Ctrl-C\.\nCreate the first administrator at http://.*\n$`).MatchString(s.stderr.String()) {
		t.Errorf("stderr %q, want two lines", s.stderr)
	}
}

func TestServeRunsWhoeverSetsItsMemory(t *testing.T) {
	for name, env := range map[string]environment{"GOGC": {"GOGC": "100"}, "GOMEMLIMIT": {"GOGC": "", "GOMEMLIMIT": "100"}, "the server": {"GOGC": ""}} {
		env[envData] = t.TempDir()
		s := startServer(t, env, "store", "serve")
		status, _ := s.get("/readyz")
		if code := s.stop(); status != http.StatusOK || code != cli.ExitOK {
			t.Errorf("%s: status %d, exit %d: %s", name, status, code, s.stderr)
		}
	}
}

func TestTheAccessLogHasNoQuery(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{"text": "route=/api/account/details", "json": `"route":"/api/account/details"`, "off": ""} {
		t.Run(mode, func(t *testing.T) {
			s := startServer(t, environment{envData: shop(t)}, "store", "serve", "--log", mode)
			s.get("/api/account/details?api_key=hunter2hunter2")
			s.stop()
			log := s.stderr.String()
			if strings.Contains(log, "hunter2") || !strings.Contains(log, want) || (mode == "off" && strings.Count(log, "\n") != 2) {
				t.Errorf("stderr %q", log)
			}
		})
	}
}

func TestMetricsHaveAListenerOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := startServer(t, environment{envData: shop(t)}, "store", "serve", "--metrics", "127.0.0.1:0")
	s.get("/healthz")
	if status, body := fetch(t, s.said["metrics_url"]); status != 200 || !strings.Contains(body, `countersign_http_requests_total{method="GET",route="/healthz",status="200"} 1`) {
		t.Errorf("metrics: %d %s", status, body)
	}
	if _, body := fetch(t, s.said["metrics_url"]); !strings.Contains(body, "countersign_database_reachable 1\n") || !strings.Contains(body, "countersign_database_feed_losses_total 0\n") {
		t.Errorf("metrics of the database: %s", body)
	}
	if status, _ := s.get("/metrics"); status != 404 {
		t.Errorf("/metrics of the store: %d", status)
	}
	r := command(t, t.TempDir(), "store", "serve", "--listen", "127.0.0.1:0", "--metrics", strings.TrimPrefix(s.said["store_url"], "http://"))
	if r.code != cli.ExitConflict || !strings.Contains(r.err, "choose another address with --metrics") {
		t.Errorf("an address in use: exit %d, %q", r.code, r.err)
	}
}

func TestTheFailLimitAndTheBaseURLReachTheAPI(t *testing.T) {
	t.Parallel()
	dir := shop(t)
	var key struct{ Key string }
	must.Do(t, json.Unmarshal([]byte(mustRun(t, dir, "store", "key", "reveal", "1", "--json").out), &key))
	s := startServer(t, environment{envData: dir}, "store", "serve", "--fail-limit", "2", "--base-url", "https://shop.example/")
	if _, body := s.get("/api/account/details?api_key=" + key.Key); !strings.Contains(body, `"avatar":"https://shop.example/media/`) {
		t.Errorf("account: %s", body)
	}
	for i, want := range []int{401, 401, 429} {
		if status, _ := s.get("/api/account/details?api_key=wrong-wrong-wrong"); status != want {
			t.Errorf("failure %d: %d, want %d", i+1, status, want)
		}
	}
}

func TestServeWaitsForPostgreSQL(t *testing.T) {
	t.Parallel()
	db := shops.New(t, dbtest.Postgres)
	proxy := dbtest.NewProxy(t, db)
	env := environment{envData: db.Dir, envDB: proxy.URL}
	proxy.Cut()
	if r := commandIn(t, env, "store", "key", "list"); r.code != cli.ExitUnreachable || !strings.Contains(r.err, "check that PostgreSQL runs") {
		t.Errorf("a command while it is down: exit %d, %q", r.code, r.err)
	}
	s := startServer(t, env, "store", "serve")
	if status, body := s.get("/readyz"); status != 503 || !strings.Contains(body, "Service unavailable") {
		t.Errorf("/readyz while it is down: %d %s", status, body)
	}
	if status, _ := s.get("/healthz"); status != 200 {
		t.Errorf("/healthz while it is down: %d", status)
	}
	proxy.Restore()
	s.wantSetupLink(s.said["store_url"] + "/setup")
	s.awaitStatus("/readyz", 200)
	proxy.Cut()
	s.awaitStatus("/readyz", 503)
	proxy.Restore()
	s.awaitStatus("/readyz", 200)
	expect.Equalf(t, s.stop(), 0, "exit: %s", s.stderr)
}

// wantSetupLink waits for the line of a server whose database was down at the start.
func (s *running) wantSetupLink(page string) {
	s.t.Helper()
	line, err := s.stdout.ReadString('\n')
	want := regexp.MustCompile(`^\{"setup_url":"` + regexp.QuoteMeta(page) + `#[A-Z2-7]{26}"\}\n$`)
	if err != nil || !want.MatchString(line) || s.said["setup_url"] != "" {
		s.t.Errorf("it says %v at first, then %q, %v; want %s", s.said, line, err, want)
	}
}

// awaitStatus asks until the answer has a status.
func (s *running) awaitStatus(path string, want int) {
	s.t.Helper()
	for dbtest.Again(s.t) {
		if status, _ := s.get(path); status == want {
			return
		}
	}
}

func TestServeEndsWhenThePostgreSQLThatComesBackBelongsToAnotherKey(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, dbtest.Postgres)
	proxy := dbtest.NewProxy(t, db)
	env := environment{envData: db.Dir, envDB: proxy.URL}
	if r := commandIn(t, env, "store", "import", writeFile(t, shopLines)); r.code != 0 {
		t.Fatal(r.err)
	}
	must.Do(t, os.Rename(filepath.Join(shop(t), "countersign.key"), filepath.Join(db.Dir, "countersign.key")))
	proxy.Cut()
	s := startServer(t, env, "store", "serve")
	proxy.Restore()
	if code := s.wait(); code != cli.ExitConflict || !strings.Contains(s.stderr.String(), "but this database belongs to the one named") {
		t.Errorf("exit %d: %s", code, s.stderr)
	}
}

func TestTheDemosCurlLineWorksWhenPasted(t *testing.T) {
	t.Parallel()
	dbtest.NeedProgram(t, "curl")
	s := startCommand(t, "", environment{}, "demo", "--listen", "127.0.0.1:0", "--addon-listen", "127.0.0.1:0")
	var said strings.Builder
	for !strings.Contains(said.String(), "Press Ctrl+C to stop.") {
		line, err := s.stdout.ReadString('\n')
		if err != nil {
			t.Fatalf("%v after %q: %s", err, said.String(), s.stderr)
		}
		said.WriteString(line)
	}
	pasted := regexp.MustCompile(`(?s)  curl .*/api/purchases/validation\n`).FindString(said.String())
	out, err := exec.Command("sh", "-c", strings.Replace(pasted, "curl ", "curl -s ", 1)).CombinedOutput()
	if err != nil || !bytes.HasPrefix(out, []byte(`{"status":"success","data":{"purchase":`)) {
		t.Errorf("%q answers %q, %v", pasted, out, err)
	}
	for _, want := range []string{"Demo ready.", "  API key  csk_", " (valid) ", " (refunded)", "40 items, 1,200 purchases, 90 days of calls.", "/api-addons/app/settings", "/admincp/link#"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("%q is not in %q", want, said.String())
		}
	}
}

// What was counted before a restart is counted after it, and at another server on the
// same database.
func TestServersKeepTheirLimits(t *testing.T) {
	t.Parallel()
	dbtest.Engines(t, func(t *testing.T, db dbtest.DB) {
		env := environment{envData: db.Dir, envDB: db.URL}
		if db.URL == "" {
			delete(env, envDB)
		}
		ask := func(s *running) (limit string) {
			t.Helper()
			form := url.Values{"purchase_code": {"nobody-sold-this"}, "domain": {"shop.example"}}
			r := must.Get(http.PostForm(s.said["store_url"]+"/api/licenses", form))(t)
			defer r.Body.Close()
			return r.Header.Get("RateLimit-Limit")
		}
		first := startServer(t, env, "store", "serve")
		for i := range 60 { // an hour's requests for a code
			if limit := ask(first); limit != "" {
				t.Fatalf("request %d is refused", i)
			}
		}
		if limit := ask(first); limit != "60" {
			t.Fatalf("the limit is %q", limit)
		}
		if code := first.stop(); code != 0 {
			t.Fatalf("exit %d: %s", code, first.stderr)
		}
		expect.Equalf(t, ask(startServer(t, env, "store", "serve")), "60", "after a restart the limit")
	})
}

// The reader of a log may end before the server, as in serve | head. The signal is that of a terminal that closes.
func TestAServerGoesOnWithoutAReaderOfItsLog(t *testing.T) {
	t.Parallel()
	server := exec.CommandContext(t.Context(), program, "store", "serve", "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--fail-limit", "0", "--log", "text", "--json", "--data", shop(t))
	stdout := must.Get(server.StdoutPipe())(t)
	stderr := must.Get(server.StderrPipe())(t)
	must.Do(t, server.Start())
	var said map[string]string
	must.Do(t, json.NewDecoder(stdout).Decode(&said))
	must.Do(t, errors.Join(stdout.Close(), stderr.Close()))
	dropped := regexp.MustCompile(`(?m)^countersign_access_log_dropped_total [1-9]`)
	for metrics := ""; !dropped.MatchString(metrics); {
		if status, _ := fetch(t, said["store_url"]+"/api/account/details"); status != http.StatusUnauthorized {
			t.Fatal(status)
		}
		_, metrics = fetch(t, said["metrics_url"])
	}
	end := syscall.SIGHUP
	if signal.Ignored(end) { // as by nohup, also for the server
		end = syscall.SIGTERM
	}
	expect.NoError(t, errors.Join(server.Process.Signal(end), server.Wait()))
}

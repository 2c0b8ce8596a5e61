//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/countersign/countersign/bench/program"
	"github.com/countersign/countersign/internal/store/sample"
)

// store is the program under test: its server, and its commands beside it.
type store struct {
	binary string
	// data is its folder; url that of its database, "" for SQLite in the folder.
	data, url string
	*process
	// address is the server's, like http://127.0.0.1:1234.
	address string
}

func (s *store) flags(args ...string) []string {
	args = append(args, "--data", s.data)
	if s.url != "" {
		args = append(args, "--db", s.url)
	}
	return args
}

// log is the path of what the server wrote to its standard error.
func (s *store) log() string { return filepath.Join(s.data, "chaos.log") }

// logged returns what the server wrote so far.
func (s *store) logged() string {
	text, _ := os.ReadFile(s.log()) // it was made before the server was started
	return strings.TrimSpace(string(text))
}

// serve starts the server. Its failures come from one address, so they have no limit.
func (s *store) serve(ctx context.Context) error {
	log, err := os.Create(s.log())
	if err != nil {
		return err
	}
	defer log.Close()
	c := exec.Command(s.binary, s.flags("store", "serve", "--listen", "127.0.0.1:0", "--json", "--quiet", "--fail-limit", "0")...)
	c.Stderr = log
	out, write, err := os.Pipe()
	if err != nil {
		return err
	}
	c.Stdout = write
	s.process, err = startProcess(c, syscall.SIGTERM)
	write.Close()
	if err != nil {
		out.Close()
		return err
	}
	s.address, err = readAddress(ctx, out)
	if err != nil {
		s.end(syscall.SIGTERM, 15*time.Second)
		return fmt.Errorf("the store did not say where it listens: %w", err)
	}
	return nil
}

// readAddress reads the first line that the server prints, and closes its output then.
func readAddress(ctx context.Context, out *os.File) (string, error) {
	defer out.Close()
	stop := context.AfterFunc(ctx, func() { _ = out.SetReadDeadline(time.Now()) })
	defer stop()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", err
	}
	return program.Address("store_url", line)
}

// awaitReady waits until the server says that it is ready.
func (s *store) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		if a := get(ctx, s.address+"/readyz"); a.status == 200 {
			return nil
		}
		if ctx.Err() != nil || !s.running() {
			return errors.New("the store is not ready 20 seconds after it could be")
		}
		program.Pause(ctx, 100*time.Millisecond)
	}
}

// result is what a command came to.
type result struct {
	stdout, stderr string
	// code is the exit code; negative when a signal ended the command.
	code int
}

// run runs a command of the store on its data. When interrupt is not zero, the command
// gets a SIGINT after that long; it is killed when ctx ends.
func (s *store) run(ctx context.Context, interrupt time.Duration, args ...string) (result, error) {
	c := exec.CommandContext(ctx, s.binary, s.flags(args...)...)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		return result{}, err
	}
	if interrupt > 0 {
		timer := time.AfterFunc(interrupt, func() { _ = c.Process.Signal(syscall.SIGINT) })
		defer timer.Stop()
	}
	err := c.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); exited {
		err = nil
	}
	return result{stdout.String(), stderr.String(), c.ProcessState.ExitCode()}, err
}

// must runs a command that has to succeed.
func (s *store) must(ctx context.Context, args ...string) (stdout string, err error) {
	r, err := s.run(ctx, 0, args...)
	if err == nil && r.code != 0 {
		err = fmt.Errorf("countersign %s: exit code %d: %s", strings.Join(args, " "), r.code, r.stderr)
	}
	return r.stdout, err
}

// answerLimit is the time in which every request has to be answered.
const answerLimit = 10 * time.Second

// answer is what became of one request.
type answer struct {
	began, ended time.Time
	// status is 0 without an answer.
	status int
	body   string
	header http.Header
	// gaveUp reports that the client ended the request before the limit of an answer.
	gaveUp bool
	// cause is the error of a request without a response.
	cause error
}

// clients have idle connections enough for the whole load.
var transport = &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}

// get requests a page without a key.
func get(ctx context.Context, url string) answer {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return answer{cause: err}
	}
	return send(ctx, answerLimit, r)
}

// validate validates a purchase code.
func (s *store) validate(ctx context.Context, code string) answer {
	return s.post(ctx, answerLimit, "/api/purchases/validation", url.Values{"purchase_code": {code}})
}

// license requests the license of a purchase code. The domain is always the same for a
// code, so a second request asks for the same license.
func (s *store) license(ctx context.Context, timeout time.Duration, code string) answer {
	return s.post(ctx, timeout, "/api/licenses", url.Values{"purchase_code": {code}, "domain": {"d" + code + ".example"}})
}

func (s *store) post(ctx context.Context, timeout time.Duration, path string, form url.Values) answer {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address+path, strings.NewReader(form.Encode()))
	if err != nil {
		return answer{cause: err}
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Api-Key", sample.BigKey())
	return send(ctx, timeout, r)
}

// send sends a request and waits for its answer as long as its client does.
func send(ctx context.Context, timeout time.Duration, r *http.Request) answer {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	a := answer{began: time.Now()}
	response, err := transport.RoundTrip(r.WithContext(ctx))
	if err == nil {
		defer response.Body.Close()
		var body []byte
		body, err = io.ReadAll(response.Body)
		a.status, a.header, a.body = response.StatusCode, response.Header, string(body)
	}
	a.ended = time.Now()
	if err != nil {
		a.status, a.cause = 0, err
		a.gaveUp = timeout < answerLimit && errors.Is(ctx.Err(), context.DeadlineExceeded)
	}
	return a
}

func (a answer) took() time.Duration { return a.ended.Sub(a.began) }

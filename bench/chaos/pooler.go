//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/countersign/countersign/bench/program"
	"github.com/countersign/countersign/internal/store/sample"
)

// poolerTries is how many purchases are refunded behind a pooler.
const poolerTries = 5

// tryPooler refunds purchases by another process while the store's server reaches its
// database through PgBouncer, in transaction mode and in session mode. In transaction
// mode the server may also refuse to run, when it says why.
func (s *session) tryPooler(ctx context.Context, _ scenario, dir string, r *report) error {
	bouncer, err := exec.LookPath("/usr/sbin/pgbouncer")
	if err != nil {
		r.note = "skipped, because /usr/sbin/pgbouncer is not installed (Debian: apt-get install pgbouncer)"
		return nil
	}
	n, err := s.startAlone(ctx, dir)
	if err != nil {
		return err
	}
	defer n.stop()
	r.logs = map[string]string{"postgres": n.log()}
	for i, mode := range []string{"transaction", "session"} {
		r.logs[mode+"-store"] = (&store{data: filepath.Join(n.dir, mode, "store")}).log()
		r.logs[mode+"-pooler"] = poolerLog(filepath.Join(n.dir, mode))
		one, said, err := s.behind(ctx, bouncer, mode, n, i*poolerTries)
		if err != nil {
			return fmt.Errorf("%s mode: %w", mode, err)
		}
		r.add(one, row{mode + " mode", one.counts[knownCode]})
		if said != "" {
			r.note = fmt.Sprintf("in %s mode the store refuses to run: %s", mode, said)
		}
	}
	return nil
}

// startAlone starts a server without standbys that has a filled store.
func (s *session) startAlone(ctx context.Context, dir string) (*node, error) {
	n, err := copyNode(ctx, s.server, s.template, dir, "alone")
	if err == nil {
		err = n.start(ctx)
	}
	if err != nil && n != nil {
		n.stop()
	}
	return n, err
}

// behind runs the store's server behind a pooler in one mode. It returns what the server
// said when it refused to run.
func (s *session) behind(ctx context.Context, bouncer, mode string, n *node, first int) (*record, string, error) {
	dir := filepath.Join(n.dir, mode)
	if err := s.server.makeFolder(dir); err != nil {
		return nil, "", err
	}
	pooler, front, err := s.startPooler(bouncer, mode, dir, n)
	if err != nil {
		return nil, "", err
	}
	defer front.close()
	defer pooler.end(syscall.SIGTERM, 5*time.Second)
	direct := &cluster{nodes: []*node{n}}
	pooled := fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", front.port(), database)
	server, err := s.newStore(ctx, dir, pooled)
	if err != nil {
		return nil, "", err
	}
	r := newRecord()
	said, err := startBehind(ctx, server)
	if err != nil && mode == "transaction" && said != "" {
		return r, said, nil
	}
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.violated(&r.counts[knownCode].wrong, "in %s mode the store does not run, and does not say what to do: %s", mode, server.logged())
		return r, "", ctx.Err()
	}
	defer server.end(syscall.SIGTERM, 15*time.Second)
	command := &store{binary: server.binary, data: server.data, url: direct.url()}
	for i := range poolerTries {
		if err := r.refundBehind(ctx, server, command, sample.BigCode(first+i)); err != nil {
			return r, "", err
		}
	}
	return r, "", nil
}

// startPooler starts PgBouncer on a socket, and a proxy before it.
func (s *session) startPooler(bouncer, mode, dir string, n *node) (*process, *proxy, error) {
	const port = 6432 // of the socket's name only
	config := fmt.Sprintf("[databases]\n%s = host=%s user=postgres\n[pgbouncer]\nlisten_port = %d\nunix_socket_dir = %s\nauth_type = any\npool_mode = %s\nignore_startup_parameters = extra_float_digits\n",
		database, n.dir, port, dir, mode)
	path := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
		return nil, nil, err
	}
	log, err := os.Create(poolerLog(dir))
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	c := exec.Command(bouncer, path)
	c.Stdout, c.Stderr = log, log
	s.server.asUser(c)
	front, err := newProxy(filepath.Join(dir, fmt.Sprintf(".s.PGSQL.%d", port)))
	if err != nil {
		return nil, nil, err
	}
	p, err := startProcess(c, syscall.SIGTERM)
	if err != nil {
		front.close()
	}
	return p, front, err
}

func poolerLog(dir string) string { return filepath.Join(dir, "pgbouncer.log") }

// startBehind starts a server and waits until it is ready, or until it says that a pooler
// is in the way. It ends a server that is not ready.
func startBehind(ctx context.Context, server *store) (said string, err error) {
	if err := server.serve(ctx); err != nil {
		return poolerLine(server.logged()), err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for ctx.Err() == nil && server.running() && said == "" {
		if a := get(ctx, server.address+"/readyz"); a.status == 200 {
			return "", nil
		}
		program.Pause(ctx, 100*time.Millisecond)
		said = poolerLine(server.logged())
	}
	server.end(syscall.SIGTERM, 15*time.Second)
	return said, errors.New("the store is not ready")
}

// poolerLine finds the line in a log that says that a pooler in transaction mode is in
// the way, and what to use in its place; "" when there is none.
func poolerLine(log string) string {
	for line := range strings.Lines(log) {
		lower := strings.ToLower(line)
		if strings.Contains(lower, "pooler") && strings.Contains(lower, "session") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// refundBehind refunds a purchase by another process and asks the server until it says
// so, or until the answer is stale.
func (r *record) refundBehind(ctx context.Context, server, command *store, code string) error {
	for range 3 {
		r.validated(knownCode, code, server.validate(ctx, code), 200)
	}
	began := time.Now()
	out, err := command.run(ctx, 0, "store", "purchase", "refund", code)
	if err != nil {
		return err
	}
	if r.refunded(code, time.Since(began), out); out.code != 0 {
		return fmt.Errorf("refund: %s", out.stderr)
	}
	for ctx.Err() == nil {
		want := r.statuses(code)
		a := server.validate(ctx, code)
		r.validated(knownCode, code, a, want...)
		if a.status == 404 || len(want) == 1 {
			return nil
		}
		program.Pause(ctx, 20*time.Millisecond)
	}
	return ctx.Err()
}

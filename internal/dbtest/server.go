package dbtest

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"
)

// supervise creates a cluster, serves it until its standard input ends, and
// removes everything. A process that dies closes that input, however it dies. What
// initdb makes is copied from a cache, if there is one.
//
//go:embed supervise.sh
var supervise string

// server is a private server. It ends when alive is closed, at the latest by the
// end of this process.
type server struct {
	url   string
	alive io.Closer
	mu    sync.Mutex
	// admin creates and drops databases. It is nil until the first.
	admin *pgx.Conn
	// done are databases of tests that have ended. They are dropped before the next is created:
	// PostgreSQL would wait 100 ms for connections that are about to end.
	done []string
}

// execute runs statements on the connection that makes databases.
func (s *server) execute(statements string) error {
	_, err := s.admin.PgConn().Exec(context.Background(), statements).ReadAll()
	return err
}

// disconnect ends the connection that makes databases.
func (s *server) disconnect() {
	if s.admin != nil {
		s.admin.Close(context.Background())
	}
}

// create creates a database like another and returns its URL. To copy files is several
// times faster than to write every page into the log, as PostgreSQL 15 does by default.
func (s *server) create(like string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.admin == nil {
		var err error
		if s.admin, err = pgx.Connect(context.Background(), s.url); err != nil {
			return "", err
		}
	}
	for ; len(s.done) > 0; s.done = s.done[1:] {
		if err := s.execute(dropDatabase(s.done[0])); err != nil {
			return "", err
		}
	}
	how := " STRATEGY FILE_COPY"
	if version := s.admin.PgConn().ParameterStatus("server_version"); len(version) < 2 || version[:2] < "15" {
		how = ""
	}
	name := newName()
	return at(s.url, name), s.execute("CREATE DATABASE " + name + " TEMPLATE " + like + how)
}

// drop removes a database that create made, and ends all connections to it.
func (s *server) drop(url string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.alive != nil { // the server ends with this process
		s.done = append(s.done, url)
		return nil
	}
	return s.execute(dropDatabase(url))
}

func dropDatabase(url string) string { return "DROP DATABASE " + nameOf(url) + " WITH (FORCE)" }

// startPrivate starts a server that nobody else knows: it listens on a socket
// in a temporary folder, trusts everybody who may open that, and keeps nothing
// safe on disk.
func startPrivate() (*server, error) {
	programs := programFolders()
	if len(programs) == 0 {
		return nil, errors.New("COUNTERSIGN_TEST_POSTGRES is not set and PostgreSQL's initdb is not on this machine")
	}
	var failures []error
	for _, bin := range programs {
		s, err := startFrom(bin)
		if err == nil {
			return s, nil
		}
		failures = append(failures, fmt.Errorf("%s: %w", bin, err))
	}
	return nil, errors.Join(failures...)
}

// programFolders lists the folders that hold a whole server, the newest of the
// distribution's first; whatever else is called initdb on PATH does not matter.
func programFolders() []string {
	var folders []string
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql@*/bin"} {
		found, _ := filepath.Glob(pattern) // the patterns are well formed
		slices.Reverse(found)
		folders = append(folders, found...)
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			folders = append(folders, filepath.Dir(real))
		}
	}
	var whole []string
	for _, folder := range folders {
		if hasServer(folder) && !slices.Contains(whole, folder) {
			whole = append(whole, folder)
		}
	}
	return whole
}

func hasServer(folder string) bool {
	for _, name := range []string{"initdb", "postgres", "pg_ctl"} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.IsDir() {
			return false
		}
	}
	return true
}

func startFrom(bin string) (*server, error) {
	dir, err := os.MkdirTemp(memory(), "countersign-postgres-")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("/bin/sh", "-c", supervise, "supervise", bin, dir, cache())
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "PGCTLTIMEOUT=600", "HOME=" + dir} // seconds
	if err := runAs(cmd, dir); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	alive, err := awaitReady(cmd)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	u := url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/postgres", RawQuery: url.Values{"host": {dir}}.Encode()}
	return &server{url: u.String(), alive: alive}, nil
}

// awaitReady starts the supervisor and returns its input when the server takes
// connections.
func awaitReady(cmd *exec.Cmd) (alive io.Closer, err error) {
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	said := bufio.NewReader(output)
	first, err := said.ReadString('\n')
	if err == nil && first == "ready\n" {
		return input, nil
	}
	_ = input.Close()
	rest, _ := io.ReadAll(said)
	_ = cmd.Wait()
	return nil, fmt.Errorf("the server did not start: %s%s", first, rest)
}

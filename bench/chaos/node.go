//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/countersign/countersign/bench/program"
)

// install is where PostgreSQL's programs are, and the user who runs them.
type install struct {
	folder string
	// credential is nil unless this process is root: PostgreSQL does not run as root.
	credential *syscall.Credential
}

var errNoPostgres = errors.New("PostgreSQL is not in /usr/lib/postgresql (Debian: apt-get install postgresql)")

// findPostgres finds the newest installed PostgreSQL.
func findPostgres() (*install, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, errNoPostgres
	}
	i := &install{folder: filepath.Dir(found[len(found)-1])}
	if os.Geteuid() == 0 {
		i.credential, err = credentialOf("postgres")
	}
	return i, err
}

func (i *install) program(name string) string { return filepath.Join(i.folder, name) }

func credentialOf(name string) (*syscall.Credential, error) {
	account, err := user.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL does not run as root: %w", err)
	}
	uid, errUID := strconv.ParseUint(account.Uid, 10, 32)
	gid, errGID := strconv.ParseUint(account.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(errUID, errGID)
}

// asUser lets a command run as the user of the servers.
func (i *install) asUser(c *exec.Cmd) {
	c.Dir = "/"
	c.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	if i.credential != nil {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: i.credential}
	}
}

// makeFolder makes a folder of the user of the servers.
func (i *install) makeFolder(path string) error {
	if err := os.Mkdir(path, 0o755); err != nil || i.credential == nil {
		return err
	}
	return os.Chown(path, int(i.credential.Uid), int(i.credential.Gid))
}

// settings are the same for all nodes. No machine loses its power here, so nothing has
// to wait for a disk; standbys connect again soon after a fault.
const settings = `
listen_addresses = ''
max_connections = 200
shared_buffers = 32MB
dynamic_shared_memory_type = mmap
fsync = off
full_page_writes = off
wal_keep_size = 512MB
wal_retrieve_retry_interval = 200ms
include_if_exists 'node.conf'
`

// initialize makes the data of a server with an empty database.
func (i *install) initialize(ctx context.Context, data string) error {
	c := exec.CommandContext(ctx, i.program("initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	i.asUser(c)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	f, err := os.OpenFile(filepath.Join(data, "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(settings)
	return errors.Join(err, f.Close())
}

// database is the name of the store's database.
const database = "shop"

// node is one PostgreSQL server. It listens on a socket in its folder only; clients and
// standbys reach it through proxies.
type node struct {
	name   string
	dir    string
	server *install
	*process
	// clients is for the store, standbys for the servers that follow this one.
	clients, standbys *proxy
}

// newNode makes the proxies of a node whose data are in dir/data.
func newNode(server *install, name, dir string) (*node, error) {
	n := &node{name: name, dir: dir, server: server}
	var err error
	if n.clients, err = newProxy(n.socket()); err != nil {
		return nil, err
	}
	if n.standbys, err = newProxy(n.socket()); err != nil {
		n.clients.close()
		return nil, err
	}
	return n, nil
}

// copyNode makes a node with a folder of its own in dir and a copy of a template's data.
func copyNode(ctx context.Context, server *install, template, dir, name string) (*node, error) {
	folder := filepath.Join(dir, name)
	if err := server.makeFolder(folder); err != nil {
		return nil, err
	}
	if err := program.Copy(ctx, template, filepath.Join(folder, "data")); err != nil {
		return nil, err
	}
	return newNode(server, name, folder)
}

func (n *node) socket() string { return filepath.Join(n.dir, ".s.PGSQL.5432") }

func (n *node) log() string { return filepath.Join(n.dir, "log") }

func (n *node) data() string { return filepath.Join(n.dir, "data") }

// start starts the server and waits until it answers.
func (n *node) start(ctx context.Context) error {
	log, err := os.Create(n.log())
	if err != nil {
		return err
	}
	defer log.Close()
	c := exec.Command(n.server.program("postgres"), "-D", n.data(), "-k", n.dir, "-c", "cluster_name="+n.name)
	c.Stdout, c.Stderr = log, log
	n.server.asUser(c)
	if n.process, err = startProcess(c, syscall.SIGQUIT); err != nil {
		return err
	}
	for {
		if _, err := n.query(ctx, "postgres", "SELECT 1"); err == nil {
			return nil
		}
		if !n.running() || ctx.Err() != nil {
			text, _ := os.ReadFile(log.Name())
			return errors.Join(ctx.Err(), fmt.Errorf("%s does not start: %s", n.name, text))
		}
		program.Pause(ctx, 50*time.Millisecond)
	}
}

// query returns what one statement returns, as text.
func (n *node) query(ctx context.Context, database, statement string) (string, error) {
	c := exec.CommandContext(ctx, n.server.program("psql"), "-h", n.dir, "-U", "postgres", "-d", database, "-XAtqc", statement)
	out, err := c.CombinedOutput()
	text := strings.TrimSpace(string(out))
	if err != nil {
		return "", fmt.Errorf("%s: %s: %w: %s", n.name, statement, err, text)
	}
	return text, nil
}

// follow makes the node a standby of a primary, also while it runs.
func (n *node) follow(primary *node) error {
	return n.configure(fmt.Sprintf("primary_conninfo = 'host=127.0.0.1 port=%d user=postgres'\n", primary.standbys.port()))
}

// configure writes the settings in which nodes differ.
func (n *node) configure(lines string) error {
	err := os.WriteFile(filepath.Join(n.data(), "node.conf"), []byte(lines+synchronous), 0o644)
	if err == nil && n.process != nil {
		n.signal(syscall.SIGHUP)
	}
	return err
}

// synchronous makes a commit wait for one standby, whichever node is the primary.
const synchronous = "synchronous_standby_names = 'ANY 1 (node1, node2, node3)'\n"

// received is how many bytes of the log a standby has on its disk.
func (n *node) received(ctx context.Context) (int64, error) {
	text, err := n.query(ctx, "postgres", "SELECT pg_last_wal_receive_lsn() - '0/0'::pg_lsn")
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(text, 10, 64)
}

// freeze stops all processes of the server, and thaw continues them.
func (n *node) freeze() error { return n.signalAll(syscall.SIGSTOP) }

func (n *node) thaw() error { return n.signalAll(syscall.SIGCONT) }

// kill ends all processes of the server at once.
func (n *node) kill() error {
	memory := n.sharedMemory()
	err := n.signalAll(syscall.SIGKILL)
	<-n.ended
	if memory >= 0 {
		_, _, _ = syscall.Syscall(syscall.SYS_SHMCTL, uintptr(memory), 0, 0) // IPC_RMID; the server can't do it any more
	}
	return err
}

// sharedMemory is the id of the server's segment of shared memory, the second number on
// line 7 of postmaster.pid; negative when it can't be read.
func (n *node) sharedMemory() int {
	text, _ := os.ReadFile(filepath.Join(n.data(), "postmaster.pid"))
	lines := strings.Split(string(text), "\n")
	var key, id int
	if len(lines) < 7 {
		return -1
	}
	if _, err := fmt.Sscan(lines[6], &key, &id); err != nil {
		return -1
	}
	return id
}

// stop ends the server and its proxies.
func (n *node) stop() {
	n.clients.close()
	n.standbys.close()
	if n.process != nil && n.running() {
		_ = n.thaw() // a frozen one does not hear the next signal
		n.end(syscall.SIGQUIT, 10*time.Second)
	}
}

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
	"slices"
	"strconv"
	"syscall"
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
	folders, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return nil, err
	}
	for _, folder := range slices.Backward(folders) {
		i := &install{folder: folder}
		if !i.has("initdb", "postgres", "psql") {
			continue
		}
		if os.Geteuid() != 0 {
			return i, nil
		}
		i.credential, err = credentialOf("postgres")
		return i, err
	}
	return nil, errNoPostgres
}

func (i *install) has(programs ...string) bool {
	for _, name := range programs {
		if _, err := exec.LookPath(i.program(name)); err != nil {
			return false
		}
	}
	return true
}

func (i *install) program(name string) string { return filepath.Join(i.folder, name) }

func credentialOf(name string) (*syscall.Credential, error) {
	account, err := user.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL does not run as root: %w", err)
	}
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(account.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err, err2)
}

// asUser lets a command run as the user of the servers.
func (i *install) asUser(c *exec.Cmd) {
	c.Dir = "/"
	c.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	if i.credential != nil {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: i.credential}
	}
}

// makeFolder creates a folder of the user of the servers.
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

// initialize creates the data of a server with an empty database.
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

package dbtest

import (
	"bufio"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// NewPooler starts PgBouncer before a PostgreSQL database, in a pool mode of its own
// ("session", "transaction"), and returns the database's URL through it. It skips the
// test where PgBouncer is not installed.
func NewPooler(t testing.TB, db DB, mode string) (through string) {
	t.Helper()
	program := pgbouncer(t)
	config, err := pgx.ParseConfig(db.URL)
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	dir, err := os.MkdirTemp("", "countersign-pgbouncer-")
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	password := ""
	if config.Password != "" {
		password = " password=" + config.Password
	}
	// It listens on a socket in the folder alone; the port is a part of its name.
	ini := fmt.Sprintf(`[databases]
%[1]s = host=%[2]s port=%[3]d dbname=%[1]s user=%[4]s%[5]s
[pgbouncer]
listen_addr =
listen_port = 6432
unix_socket_dir = %[6]s
auth_type = any
pool_mode = %[7]s
`, config.Database, config.Host, config.Port, config.User, password, dir, mode)
	file := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(file, []byte(ini), 0o644); err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	startPooler(t, exec.Command(program, file), dir)
	u := url.URL{Scheme: "postgres", User: url.User(config.User), Path: "/" + config.Database, RawQuery: url.Values{"host": {dir}, "port": {"6432"}}.Encode()}
	return u.String()
}

// pgbouncer finds the program, which Debian keeps where only root looks.
func pgbouncer(t testing.TB) string {
	t.Helper()
	if _, err := os.Stat("/usr/sbin/pgbouncer"); err == nil {
		return "/usr/sbin/pgbouncer"
	}
	NeedProgram(t, "pgbouncer")
	return "pgbouncer"
}

// startPooler runs the program until the test ends, and returns when it is up.
func startPooler(t testing.TB, cmd *exec.Cmd, dir string) {
	t.Helper()
	cmd.Dir = dir
	if err := runAs(cmd, dir); err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	var log strings.Builder
	for lines := bufio.NewScanner(said); lines.Scan(); {
		log.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "process up") {
			go func() {
				for lines.Scan() { // what it says later must not fill the pipe
				}
			}()
			return
		}
	}
	t.Fatalf("dbtest: pgbouncer did not start:\n%s", log.String())
}

//go:build linux

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
)

// machine is a fresh Debian in a folder, without systemd.
type machine struct {
	t    *testing.T
	root string
}

// user is somebody of a machine; the group has the same number.
type user struct{ uid int }

// newMachine makes a Debian of this machine's release, with what every Debian has.
func newMachine(t *testing.T) *machine {
	t.Helper()
	if os.Getuid() != 0 {
		dbtest.Skip(t, errors.New("only root can install packages in a folder"))
	}
	for _, program := range []string{"mmdebstrap", "bwrap", "systemd-analyze", "setpriv"} {
		dbtest.NeedProgram(t, program)
	}
	release, err := os.ReadFile("/etc/os-release")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`(?m)^VERSION_CODENAME=(\w+)$`).FindStringSubmatch(string(release))
	if name == nil || !bytes.Contains(release, []byte("\nID=debian\n")) {
		dbtest.Skip(t, errors.New("this machine is not a Debian, whose keys mmdebstrap needs"))
	}
	dir, err := os.MkdirTemp(cmp.Or(os.Getenv("GOTMPDIR"), os.TempDir()), "countersign-machine-") // memory may be mounted without devices
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, root: filepath.Join(dir, "root")}
	if out, err := exec.Command("mmdebstrap", "--variant=apt", name[1], m.root).CombinedOutput(); err != nil {
		t.Fatalf("mmdebstrap: %v\n%s", err, out)
	}
	return m
}

// path returns where a file of the machine is.
func (m *machine) path(name string) string { return filepath.Join(m.root, name) }

// run runs a command as root of the machine and returns what it prints.
func (m *machine) run(args ...string) string {
	m.t.Helper()
	return m.runAs(user{}, args...)
}

// runAs runs a command as a user of the machine, and returns what it writes to stdout.
func (m *machine) runAs(u user, args ...string) string {
	m.t.Helper()
	c := exec.Command(args[0], args[1:]...)
	c.Path = cmp.Or(map[string]string{"apt-get": "/usr/bin/apt-get"}[args[0]], "/usr/bin/"+args[0])
	c.Err = nil // Go looked for it outside
	c.Dir = "/"
	c.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C"}
	c.SysProcAttr = &syscall.SysProcAttr{Chroot: m.root, Credential: &syscall.Credential{Uid: uint32(u.uid), Gid: uint32(u.uid)}}
	var talk strings.Builder
	c.Stderr = &talk
	out, err := c.Output()
	if err != nil {
		m.t.Fatalf("%v: %v\n%s%s", args, err, out, talk.String())
	}
	return string(out)
}

// install installs a package, in place of another version of it.
func (m *machine) install(deb string) string {
	m.t.Helper()
	text, err := os.ReadFile(deb)
	if err != nil {
		m.t.Fatal(err)
	}
	file := "/tmp/" + filepath.Base(deb)
	write(m.t, m.path(file), string(text), 0o644)
	return m.run("apt-get", "install", "--yes", file)
}

// user finds a user of the machine.
func (m *machine) user(name string) user {
	m.t.Helper()
	text, err := os.ReadFile(m.path("/etc/passwd"))
	if err != nil {
		m.t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^` + name + `:x:(\d+):(\d+):`).FindStringSubmatch(string(text))
	if line == nil || line[1] != line[2] {
		m.t.Fatalf("no user %s with a group of the same number:\n%s", name, text)
	}
	uid, err := strconv.Atoi(line[1])
	if err != nil {
		m.t.Fatal(err)
	}
	return user{uid}
}

// mode returns mode and owner of a file, like "drwx------ countersign:countersign".
func (m *machine) mode(name string) string {
	m.t.Helper()
	return strings.TrimSpace(m.run("stat", "--format=%A %U:%G", name))
}

// serving is a service that runs in the sandbox.
type serving struct {
	url  string
	stop func()
}

var servingLine = regexp.MustCompile(`^Serving (http://\S+) `)

// start starts a service as its unit does, and waits until it has printed its address.
func (m *machine) start(service string) serving {
	m.t.Helper()
	unit := readService(m.t, service)
	if before := commandOf(unit, "ExecStartPre"); before != nil {
		m.sandboxed(unit, before).wait()
	}
	return m.sandboxed(unit, commandOf(unit, "ExecStart")).serve()
}

// process is a command in the sandbox.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	pid  int // of the command itself, outside
	said *bufio.Reader
}

func (m *machine) sandboxed(unit []directive, args []string) *process {
	m.t.Helper()
	return startInfo(m.t, sandbox(m.t, unit, m.root, m.user("countersign"), args))
}

// startInfo starts a command of bwrap, whose last extra file is the one for --info-fd.
func startInfo(t *testing.T, c *exec.Cmd) *process {
	t.Helper()
	out, outEnd := pipe(t)
	info, infoEnd := pipe(t)
	c.Stdout, c.Stderr = outEnd, outEnd
	c.ExtraFiles = append(c.ExtraFiles, infoEnd)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() }) // ends what is in the sandbox, too
	_, _ = outEnd.Close(), infoEnd.Close()
	var said struct {
		PID int `json:"child-pid"`
	}
	if err := json.NewDecoder(info).Decode(&said); err != nil {
		text, _ := bufio.NewReader(out).ReadString(0)
		t.Fatalf("%v did not start: %v\n%s", c.Args, err, text)
	}
	return &process{t, c, said.PID, bufio.NewReader(out)}
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r, w
}

// end waits for the end of a command. Its error has what the command said.
func (p *process) end() error {
	text, _ := p.said.ReadString(0)
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	return nil
}

// wait waits for the end of a command, which must succeed.
func (p *process) wait() {
	p.t.Helper()
	if err := p.end(); err != nil {
		p.t.Fatalf("%v: %v", p.cmd.Args, err)
	}
}

// serve waits for the line with the address of a server.
func (p *process) serve() serving {
	p.t.Helper()
	var said strings.Builder
	for {
		line, err := p.said.ReadString('\n')
		said.WriteString(line)
		if m := servingLine.FindStringSubmatch(line); m != nil {
			return serving{url: m[1], stop: p.stop}
		}
		if err != nil {
			p.t.Fatalf("%v ended: %v\n%s", p.cmd.Args, p.cmd.Wait(), said.String())
		}
	}
}

// stop ends a server as systemd does.
func (p *process) stop() {
	p.t.Helper()
	if err := syscall.Kill(p.pid, syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	p.wait()
}

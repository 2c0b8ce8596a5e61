//go:build linux

package main

import (
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// What becomes of a restriction of a unit where bwrap takes the place of systemd.
const (
	byBwrap   = "flags of bwrap"
	byFilter  = "the filter of system calls"
	byWrapper = "the script that starts bwrap"
	ofManager = "what systemd does when the process starts or ends"
)

// restrictions has all directives of the units. Those with another text than the constants
// above are not applied in the sandbox, for the reason that the text has.
var restrictions = map[string]string{
	"Type": ofManager, "ExecStartPre": ofManager, "ExecStart": ofManager, "Restart": ofManager, "RestartSec": ofManager,
	"RestartPreventExitStatus": ofManager, "TimeoutStartSec": ofManager, "TimeoutStopSec": ofManager, "StateDirectory": ofManager, "StateDirectoryMode": ofManager,

	"User": byWrapper, "Group": byWrapper, "UMask": byWrapper, "LimitNOFILE": byWrapper,

	"WorkingDirectory": byBwrap, "CapabilityBoundingSet": byBwrap, "NoNewPrivileges": byBwrap, "PrivateDevices": byBwrap, "PrivateTmp": byBwrap,
	"PrivateUsers": byBwrap, "ProtectHome": byBwrap, "ProtectHostname": byBwrap, "ProtectSystem": byBwrap, "RemoveIPC": byBwrap,
	"ProtectProc":          byBwrap, // its processes see only each other
	"ProtectControlGroups": byBwrap, // not there
	"ProtectKernelLogs":    byBwrap, // no device for them, and no capability
	"ProtectClock":         byBwrap,

	"SystemCallFilter": byFilter, "SystemCallArchitectures": byFilter, "RestrictAddressFamilies": byFilter, "MemoryDenyWriteExecute": byFilter,
	"LockPersonality": byFilter, "RestrictNamespaces": byFilter, "RestrictRealtime": byFilter, "RestrictSUIDSGID": byFilter, "ProtectKernelModules": byFilter,

	"ProcSubset":            "bwrap mounts /proc without options",
	"ProtectKernelTunables": "bwrap mounts /proc/sys so that its user may read it",
}

// firstExtra is the descriptor of a command's first extra file.
const firstExtra = 3

// sandbox returns the command that runs args in a root folder as the unit would: as its user, with
// the restrictions that bwrap and a filter of system calls can give. The rest is logged.
func sandbox(t *testing.T, unit []directive, root string, owner user, args []string) *exec.Cmd {
	t.Helper()
	values := map[string][]string{}
	for _, d := range unit {
		values[d.name] = append(values[d.name], d.value)
	}
	value := func(name string) string { return strings.Join(values[name], " ") }
	state := filepath.Join("/var/lib", value("StateDirectory"))
	script := fmt.Sprintf("umask %s; ulimit -n %s; exec setpriv --reuid=%d --regid=%[3]d --clear-groups bwrap \"$@\"", value("UMask"), value("LimitNOFILE"), owner.uid)
	flags := []string{
		"sh", "--ro-bind", root, "/", "--bind", filepath.Join(root, state), state, "--chdir", value("WorkingDirectory"),
		"--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp", "--tmpfs", "/home", "--tmpfs", "/root",
		"--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup", "--cap-drop", "ALL",
		"--clearenv", "--setenv", "PATH", "/usr/sbin:/usr/bin", "--new-session", "--die-with-parent", "--as-pid-1",
	}
	var programs []*os.File
	for i, filter := range filters(t, values) {
		programs = append(programs, programFile(t, filter))
		flags = append(flags, "--add-seccomp-fd", strconv.Itoa(firstExtra+i))
	}
	flags = append(flags, "--info-fd", strconv.Itoa(firstExtra+len(programs)), "--")
	c := exec.Command("sh", slices.Concat([]string{"-c", script}, flags, args)...)
	c.Dir, c.ExtraFiles = "/", programs
	return c
}

// A new restriction of a unit needs a row in the table: how the sandbox applies it, or why it does not.
func TestTheSandboxKnowsAllLinesOfTheUnits(t *testing.T) {
	for _, service := range []string{"store", "addon"} {
		for _, d := range readService(t, service) {
			switch how, known := restrictions[d.name]; {
			case !known:
				t.Errorf("the sandbox does not know %s", d.name)
			case !slices.Contains([]string{byBwrap, byFilter, byWrapper, ofManager}, how):
				t.Logf("%s is not in the sandbox: %s", d.name, how)
			}
		}
	}
}

// checkSandbox tries what the unit forbids.
func checkSandbox(t *testing.T, m *machine) {
	unit := readService(t, "store")
	for _, c := range []struct {
		allowed bool
		command string
	}{
		{true, "touch /var/lib/countersign/store/probe && rm /var/lib/countersign/store/probe"},
		{true, "test \"$(umask)\" = 0077 && test \"$(id -un)\" = countersign && test \"$(ulimit -n)\" = 8192"},
		{false, "touch /etc/countersign/probe"},
		{false, "touch /usr/bin/countersign"},
		{false, "touch /var/lib/countersign/addon/probe"},
		{false, "unshare --user true"},
		{false, "touch /tmp/probe && chmod u+s /tmp/probe"},
		{false, "nice -n 1 true"},
		{false, "test -e /dev/kmsg"},
	} {
		err := m.sandboxed(unit, []string{"/bin/sh", "-c", c.command}).end()
		if (err == nil) != c.allowed {
			t.Errorf("%s: allowed %v: %v", c.command, err == nil, err)
		}
	}
}

// filters returns what systemd would filter of system calls. A filter of the library has either
// calls without conditions or one call with conditions; the kernel applies all of them.
func filters(t *testing.T, values map[string][]string) []seccomp.Policy {
	t.Helper()
	all := []seccomp.Policy{{DefaultAction: seccomp.ActionKillProcess, Syscalls: []seccomp.SyscallGroup{
		{Action: denied(unix.EPERM), Names: []string{"personality", "unshare", "setns"}},
		{Action: denied(unix.ENOSYS), Names: []string{"clone3"}},
		{Action: seccomp.ActionAllow, Names: allowedCalls(t, values["SystemCallFilter"])},
	}}}
	families := seccomp.ArgumentConditions{}
	for _, name := range strings.Fields(strings.Join(values["RestrictAddressFamilies"], " ")) {
		number, known := map[string]uint64{"AF_UNIX": unix.AF_UNIX, "AF_INET": unix.AF_INET, "AF_INET6": unix.AF_INET6}[name]
		if !known {
			t.Fatalf("the sandbox does not know the address family %s", name)
		}
		families = append(families, seccomp.Condition{Argument: 0, Operation: seccomp.NotEqual, Value: number})
	}
	all = append(all, one("socket", unix.EAFNOSUPPORT, families))
	set := func(argument uint32, bits ...uint64) (all seccomp.ArgumentConditions) {
		for _, b := range bits {
			all = append(all, seccomp.Condition{Argument: argument, Operation: seccomp.BitsSet, Value: b})
		}
		return all
	}
	namespaces := uint64(unix.CLONE_NEWNS | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWCGROUP)
	const shmExec = 0o100000
	return append(all,
		one("mmap", unix.EPERM, set(2, unix.PROT_WRITE, unix.PROT_EXEC)),
		one("mprotect", unix.EPERM, set(2, unix.PROT_EXEC)),
		one("pkey_mprotect", unix.EPERM, set(2, unix.PROT_EXEC)),
		one("shmat", unix.EPERM, set(2, shmExec)),
		one("clone", unix.EPERM, set(0, namespaces)),
		one("fchmod", unix.EPERM, set(1, unix.S_ISUID|unix.S_ISGID)),
		one("fchmodat", unix.EPERM, set(2, unix.S_ISUID|unix.S_ISGID)),
		one("mkdirat", unix.EPERM, set(2, unix.S_ISUID|unix.S_ISGID)))
}

func denied(with syscall.Errno) seccomp.Action { return seccomp.ActionErrno | seccomp.Action(with) }

// one is a filter that denies a call whose arguments fulfil all conditions.
func one(call string, with syscall.Errno, when seccomp.ArgumentConditions) seccomp.Policy {
	return seccomp.Policy{DefaultAction: seccomp.ActionAllow, Syscalls: []seccomp.SyscallGroup{
		{Action: denied(with), NamesWithCondtions: []seccomp.NameWithConditions{{Name: call, Conditions: when}}},
	}}
}

// programFile writes the program of a filter as the kernel loads it.
func programFile(t *testing.T, filter seccomp.Policy) *os.File {
	t.Helper()
	instructions, err := filter.Assemble()
	if err != nil {
		t.Fatal(err)
	}
	program, err := bpf.Assemble(instructions)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.CreateTemp(t.TempDir(), "filter")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if err := binary.Write(f, binary.NativeEndian, program); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	return f
}

// allowedCalls returns the system calls of filters such as "@system-service" and "~@privileged".
func allowedCalls(t *testing.T, filters []string) []string {
	t.Helper()
	here, err := arch.GetInfo("")
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]bool{}
	for _, filter := range filters {
		names, deny := strings.CutPrefix(filter, "~")
		for _, name := range strings.Fields(names) {
			for _, call := range callsOf(t, name) {
				_, exists := here.SyscallNames[call]
				allowed[call] = exists && !deny
			}
		}
	}
	maps.DeleteFunc(allowed, func(_ string, yes bool) bool { return !yes })
	return slices.Sorted(maps.Keys(allowed))
}

// callsOf returns the system calls of a set of systemd.
func callsOf(t *testing.T, set string) (calls []string) {
	t.Helper()
	out, err := exec.Command("systemd-analyze", "syscall-filter", set).Output()
	if err != nil {
		t.Fatalf("systemd-analyze syscall-filter %s: %v", set, err)
	}
	for line := range strings.Lines(string(out)) {
		name, indented := strings.CutPrefix(line, "    ")
		switch name = strings.TrimSpace(name); {
		case !indented || strings.HasPrefix(name, "#"):
		case strings.HasPrefix(name, "@"):
			calls = append(calls, callsOf(t, name)...)
		default:
			calls = append(calls, name)
		}
	}
	return calls
}

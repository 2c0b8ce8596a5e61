package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
)

const units = "../deploy/systemd"

// directive is a line of a unit of systemd.
type directive struct{ name, value string }

// readService returns the lines of the section Service of a unit.
func readService(t *testing.T, service string) (all []directive) {
	t.Helper()
	f, err := os.Open(filepath.Join(units, "countersign-"+service+".service"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	section := ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		name, value, found := strings.Cut(line, "=")
		switch {
		case strings.HasPrefix(line, "["):
			section = line
		case found && section == "[Service]" && !strings.HasPrefix(line, "#"):
			all = append(all, directive{name, value})
		}
	}
	return all
}

// commandOf returns the words of a command of a unit. A "-" before it ignores its failure.
func commandOf(all []directive, name string) []string {
	for _, d := range all {
		if d.name == name {
			return strings.Fields(strings.TrimPrefix(d.value, "-"))
		}
	}
	return nil
}

func TestSystemdAcceptsTheUnitsAndTheirExposure(t *testing.T) {
	dbtest.NeedProgram(t, "systemd-analyze")
	for _, service := range []string{"store", "addon"} {
		name := "countersign-" + service + ".service"
		text, err := os.ReadFile(filepath.Join(units, name))
		if err != nil {
			t.Fatal(err)
		}
		program := filepath.Join(t.TempDir(), "countersign") // verify wants it to exist
		write(t, program, "", 0o755)
		unit := filepath.Join(t.TempDir(), name)
		write(t, unit, strings.ReplaceAll(string(text), "/usr/bin/countersign", program), 0o644)
		for _, args := range [][]string{{"verify"}, {"security", "--offline=true", "--threshold=20"}} {
			if out, err := exec.Command("systemd-analyze", append(args, unit)...).CombinedOutput(); err != nil || (args[0] == "verify" && len(out) > 0) {
				t.Errorf("systemd-analyze %s %s: %v\n%s", args[0], name, err, out)
			}
		}
	}
}

// Both services are restricted alike.
func TestTheUnitsDifferOnlyInTheirService(t *testing.T) {
	store, addon := readService(t, "store"), readService(t, "addon")
	addon = slices.DeleteFunc(addon, func(d directive) bool { return d.name == "ExecStartPre" || d.name == "TimeoutStartSec" }) // of the update
	for i := range addon {
		addon[i].value = strings.ReplaceAll(addon[i].value, "addon", "store")
	}
	if !slices.Equal(store, addon) {
		t.Errorf("store: %v\naddon: %v", store, addon)
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

package main

import (
	"bufio"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
)

const updatePHP = "../../deploy/api-addons/update.php"

// php runs update.php as from a terminal, on an addon of its own.
func php(t *testing.T, dir string, env []string, args ...string) result {
	t.Helper()
	path := must.Get(filepath.Abs(updatePHP))(t)
	c := exec.Command("php", append([]string{path}, args...)...)
	c.Dir = dir
	c.Env = append(os.Environ(), append([]string{envAddonData + "=" + filepath.Join(dir, "data"), "COUNTERSIGN_BIN=", envAddonConfig + "=" + noConfig}, env...)...)
	var out, errs strings.Builder
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil && c.ProcessState == nil {
		t.Fatal(err)
	}
	return result{c.ProcessState.ExitCode(), out.String(), errs.String()}
}

func TestUpdatePHPRunsTheUpdateFromATerminal(t *testing.T) {
	t.Parallel()
	dbtest.NeedProgram(t, "php")
	dir := t.TempDir()
	if r := php(t, dir, nil, "--plan"); r.code != 0 || !strings.Contains(r.out, "Create the tables") {
		t.Errorf("--plan: exit %d, %s%s", r.code, r.out, r.err)
	}
	if r := php(t, dir, nil); r.code != 0 || !strings.Contains(r.out, "✓ Create the first API key and API secret") {
		t.Errorf("the program of PATH: exit %d, %s%s", r.code, r.out, r.err)
	}
	program := must.Get(exec.LookPath("countersign"))(t)
	bare := []string{"PATH=/nowhere", "COUNTERSIGN_BIN=" + program}
	if php, err := exec.LookPath("php"); err == nil {
		bare[0] = "PATH=" + filepath.Dir(php)
	}
	if r := php(t, dir, bare); r.code != 0 || !strings.HasPrefix(r.out, "Nothing to do") {
		t.Errorf("the program that COUNTERSIGN_BIN names: exit %d, %s%s", r.code, r.out, r.err)
	}
}

func TestUpdatePHPPassesTheExitCodeOn(t *testing.T) {
	t.Parallel()
	dbtest.NeedProgram(t, "php")
	dir := t.TempDir()
	if r := php(t, dir, nil, "--bogus"); r.code != cli.ExitUsage || !strings.Contains(r.err, "unknown flag --bogus") {
		t.Errorf("a wrong flag: exit %d, %s", r.code, r.err)
	}
	if r := php(t, dir, []string{"COUNTERSIGN_BIN=/nowhere/countersign"}); r.code != 127 || !strings.Contains(r.err, "name it in COUNTERSIGN_BIN") {
		t.Errorf("a program that is not there: exit %d, %s", r.code, r.err)
	}
	if _, err := os.Stat(filepath.Join(dir, "data")); !os.IsNotExist(err) {
		t.Errorf("the data folder was made: %v", err)
	}
}

func TestUpdatePHPRefusesTheWeb(t *testing.T) {
	dbtest.NeedProgram(t, "php")
	dir := t.TempDir()
	answer := must.Get(http.Get(phpServer(t, dir) + "/update.php"))(t)
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden || answer.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("status %d, %v", answer.StatusCode, answer.Header)
	}
	if made, _ := filepath.Glob(filepath.Join(dir, "*")); len(made) > 0 {
		t.Errorf("it made %v", made)
	}
}

// phpServer serves the folder of update.php with PHP's own web server.
func phpServer(t *testing.T, dir string) string {
	t.Helper()
	for range 5 { // another program may take the port that was free a moment ago
		free := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		addr := free.Addr().String()
		free.Close()
		c := exec.CommandContext(t.Context(), "php", "-S", addr, "-t", filepath.Dir(updatePHP))
		c.Env = append(os.Environ(), envAddonData+"="+filepath.Join(dir, "data"), envAddonConfig+"="+noConfig)
		said, err := c.StderrPipe()
		if err == nil {
			err = c.Start()
		}
		must.Do(t, err)
		line, _ := bufio.NewReader(said).ReadString('\n')
		if strings.Contains(line, "started") {
			t.Cleanup(func() {
				_ = c.Process.Kill()
				_ = c.Wait()
			})
			return "http://" + addr
		}
		_ = c.Wait()
	}
	t.Fatal("PHP's web server does not start")
	return ""
}

// The shim lies in the web root: without a data folder named, it chooses one beside that.
func TestUpdatePHPPutsTheDataBesideTheWebRoot(t *testing.T) {
	t.Parallel()
	dbtest.NeedProgram(t, "php")
	base := t.TempDir()
	addons := filepath.Join(base, "site", "blog", "api-addons")
	shim := must.Get(os.ReadFile(updatePHP))(t)
	must.Do(t, os.MkdirAll(addons, 0o755))
	for path, text := range map[string][]byte{filepath.Join(addons, "update.php"): shim, filepath.Join(base, "site", "index.php"): nil} {
		must.Do(t, os.WriteFile(path, text, 0o644))
	}
	c := exec.Command("php", filepath.Join(addons, "update.php"))
	c.Dir = addons
	out, err := c.CombinedOutput()
	data := filepath.Join(base, "countersign-addon-data")
	if err != nil || !strings.Contains(string(out), "Data folder: "+data+".") {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(data, "countersign.key")); err != nil {
		t.Error(err)
	}
	if made, _ := filepath.Glob(filepath.Join(addons, "*")); len(made) != 1 {
		t.Errorf("in the web root is now %v", made)
	}
}

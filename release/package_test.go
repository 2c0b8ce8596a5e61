//go:build linux

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
)

// installed lists what a package has.
var installed = []string{
	"/etc/countersign/addon.toml",
	"/etc/countersign/store.toml",
	"/usr/bin/countersign",
	"/usr/lib/systemd/system/countersign-addon.service",
	"/usr/lib/systemd/system/countersign-store.service",
	"/usr/share/bash-completion/completions/countersign",
	"/usr/share/doc/countersign/copyright",
	"/usr/share/fish/vendor_completions.d/countersign.fish",
	"/usr/share/zsh/site-functions/_countersign",
}

func checkRPM(t *testing.T, r release) {
	dbtest.NeedProgram(t, "rpm")
	file := r.built(t, ".rpm")
	ask := func(args ...string) []string {
		t.Helper()
		out, err := exec.Command("rpm", append(args, file)...).Output()
		if err != nil {
			t.Fatalf("rpm %v: %v\n%s", args, err, out)
		}
		return strings.Split(strings.TrimSpace(string(out)), "\n")
	}
	ask("--checksig", "--nosignature")
	if got := ask("--query", "--list", "--package"); !slices.Equal(got, installed) {
		t.Errorf("%q", got)
	}
	if got := ask("--query", "--configfiles", "--package"); !slices.Equal(got, installed[:2]) {
		t.Errorf("%q", got)
	}
	if got := ask("--query", "--queryformat", "%{NAME} %{VERSION} %{ARCH} %{LICENSE} %{BUILDHOST}\n", "--package"); got[0] != "countersign 1.2.3 "+map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[host.arch]+" Apache-2.0 localhost" {
		t.Errorf("%q", got)
	}
	if got := strings.Join(ask("--query", "--scripts", "--package"), "\n"); strings.Count(got, "scriptlet (using /bin/sh)") != 3 {
		t.Errorf("%s", got)
	}
}

// checkDeb does on a fresh Debian what an operator does: installs, sells, upgrades, removes.
func checkDeb(t *testing.T, r release) {
	m := newMachine(t)
	older := buildDeb(t, "1.2.2")
	begun := time.Now()
	if said := m.install(older); !strings.Contains(said, "systemctl enable --now countersign-store") {
		t.Errorf("the installation does not say what to do next:\n%s", said)
	}
	m.checkInstalled("v1.2.2")
	m.setPort("store")
	checkSandbox(t, m)
	key := m.sell()
	s := m.start("store")
	s.validates(t, key)
	t.Logf("a validated code after %s", time.Since(begun).Round(time.Second/10))
	s.stop()
	configured := m.run("sha256sum", "/etc/countersign/store.toml", "/var/lib/countersign/store/countersign.key")

	m.install(r.built(t, ".deb"))
	m.checkInstalled("v1.2.3")
	if got := m.run("sha256sum", "/etc/countersign/store.toml", "/var/lib/countersign/store/countersign.key"); got != configured {
		t.Errorf("the upgrade changed\n%sto\n%s", configured, got)
	}
	s = m.start("store")
	s.validates(t, key)
	s.stop()
	m.checkAddon()

	for _, how := range []string{"remove", "purge"} {
		said := m.run("apt-get", how, "--yes", "countersign")
		for _, service := range []string{"store", "addon"} {
			if !strings.Contains(said, "The data stays in /var/lib/countersign/"+service) {
				t.Errorf("%s does not say where the data is:\n%s", how, said)
			}
		}
	}
	if got := m.run("sha256sum", "/var/lib/countersign/store/countersign.key"); !strings.Contains(configured, got) {
		t.Errorf("the key file is %s", got)
	}
	m.install(r.built(t, ".deb"))
	m.setPort("store")
	s = m.start("store")
	s.validates(t, key)
	s.stop()
}

// buildDeb builds the package of this tree with another number.
func buildDeb(t *testing.T, version string) string {
	t.Helper()
	r := candidate(t, version)
	r.stage = t.TempDir()
	if err := r.prepareOut(); err != nil {
		t.Fatal(err)
	}
	if err := r.compile(t.Context(), host); err != nil {
		t.Fatal(err)
	}
	if err := r.writeGenerated(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.writeCopyright(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.writePackage(t.Context(), host, "deb"); err != nil {
		t.Fatal(err)
	}
	return r.built(t, ".deb")
}

// checkInstalled checks files, owners and the version of what is installed.
func (m *machine) checkInstalled(version string) {
	m.t.Helper()
	for _, name := range installed {
		_ = read(m.t, m.path(name))
	}
	for name, want := range map[string]string{
		"/etc/countersign/store.toml": "-rw-r----- root:countersign",
		"/etc/countersign/addon.toml": "-rw-r----- root:countersign",
		"/usr/bin/countersign":        "-rwxr-xr-x root:root",
		"/var/lib/countersign":        "drwxr-xr-x root:root",
		"/var/lib/countersign/store":  "drwx------ countersign:countersign",
		"/var/lib/countersign/addon":  "drwx------ countersign:countersign",
	} {
		if got := m.mode(name); got != want {
			m.t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if got := m.run("countersign", "version"); !strings.HasPrefix(got, "countersign "+version+" (") {
		m.t.Errorf("%s", got)
	}
}

// setPort lets a service take any free port.
func (m *machine) setPort(service string) {
	m.t.Helper()
	name := m.path("/etc/countersign/" + service + ".toml")
	write(m.t, name, string(read(m.t, name))+"\nlisten = \"127.0.0.1:0\"\n", 0o640)
}

const soldCode = "7c0f3b1e-5d2a-4c44-9b1e-000000000001"

// sell creates a workspace, an item, a purchase and a key as the README does, and returns the key.
func (m *machine) sell() string {
	m.t.Helper()
	operator := m.user("countersign")
	command := func(args ...string) string {
		m.t.Helper()
		return m.runAs(operator, append([]string{"countersign", "store"}, args...)...)
	}
	command("workspace", "create", "ada", "--email", "ada@shop.example")
	var item struct{ ID json.Number }
	said := command("item", "create", "--workspace", "ada", "--name", "Shop Theme", "--version", "1.2.3", "--regular", "49.00", "--json")
	if err := json.Unmarshal([]byte(said), &item); err != nil {
		m.t.Fatalf("%v: %s", err, said)
	}
	command("purchase", "create", "--workspace", "ada", "--item", item.ID.String(), "--code", soldCode)
	var key struct{ Key string }
	said = command("key", "create", "web", "--workspace", "ada", "--json")
	if err := json.Unmarshal([]byte(said), &key); err != nil {
		m.t.Fatalf("%v: %s", err, said)
	}
	return key.Key
}

// validates asks the store whether the code that was sold is valid.
func (s serving) validates(t *testing.T, key string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/api/purchases/validation", strings.NewReader("purchase_code="+soldCode))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Api-Key", key)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != 200 || !strings.HasPrefix(string(text), `{"status":"success","data":{"purchase":{"purchase_code":"`+soldCode+`"`) {
		t.Errorf("%v: %s: %s", err, answer.Status, text)
	}
}

// answers checks the status of a path.
func (s serving) answers(t *testing.T, path string, status int) {
	t.Helper()
	answer, err := http.Get(s.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != status {
		t.Errorf("%s: %s", path, answer.Status)
	}
}

// checkAddon starts the addon, which its unit sets up before.
func (m *machine) checkAddon() {
	m.t.Helper()
	m.setPort("addon")
	s := m.start("addon")
	s.answers(m.t, "/api-addons/app/settings", 200)
	s.stop()
	if got := m.mode(filepath.Join("/var/lib/countersign/addon", "countersign.key")); got != "-rw------- countersign:countersign" {
		m.t.Errorf("the addon's key file is %s", got)
	}
}

package countersign_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
)

// webServer is a kind of web server that a page has a configuration for.
type webServer struct {
	program string
	// wrap puts the block of a page into a whole configuration, and start returns the arguments for it.
	wrap  func(s site, block string) string
	start func(file, dir string) []string
}

// site is where a web server of the test is, and its certificate.
type site struct{ page, dir, port, certificate, key string }

var proxies = map[string]webServer{
	"nginx":  {"nginx", wrapNginx, func(file, dir string) []string { return []string{"-p", dir, "-c", file} }},
	"apache": {"apache2", wrapApache, func(file, dir string) []string { return []string{"-X", "-d", dir, "-f", file} }},
	"caddy":  {"caddy", wrapCaddy, func(file, dir string) []string { return []string{"run", "--adapter", "caddyfile", "--config", file} }},
}

var (
	certificateFiles = regexp.MustCompile(`(?mi)^(\s*ssl_?certificate(?:_?key|keyfile|file)?)\s+[^\s;]+`)
	listen443        = regexp.MustCompile(`(?m)^(\s*listen\s+)443\b`)
)

// certified puts the test's certificate in place of those that a block names.
func (s site) certified(block string) string {
	return certificateFiles.ReplaceAllStringFunc(block, func(line string) string {
		name, file := strings.Fields(line)[0], s.certificate
		if strings.Contains(strings.ToLower(name), "key") {
			file = s.key
		}
		return name + " " + file
	})
}

func wrapNginx(s site, block string) string {
	temp := ""
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		temp += kind + "_temp_path " + filepath.Join(s.dir, kind) + ";\n"
	}
	block = listen443.ReplaceAllString(s.certified(block), "${1}127.0.0.1:"+s.port)
	return "daemon off;\nmaster_process off;\npid nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n" + temp + block + "}\n"
}

// wrapApache loads what Debian's Apache has from the start, and what the page enables.
func wrapApache(s site, block string) string {
	text, _ := os.ReadFile(s.page)
	modules := []string{"mpm_event", "authz_core", "mime", "setenvif"}
	for _, m := range regexp.MustCompile(`a2enmod ([a-z0-9_ ]+)`).FindAllStringSubmatch(string(text), -1) {
		modules = append(modules, strings.Fields(m[1])...)
	}
	var b strings.Builder
	for _, m := range modules {
		fmt.Fprintf(&b, "<IfModule !%s_module>\nLoadModule %[1]s_module /usr/lib/apache2/modules/mod_%[1]s.so\n</IfModule>\n", m)
	}
	block = strings.ReplaceAll(s.certified(block), "<VirtualHost *:443>", "<VirtualHost 127.0.0.1:"+s.port+">")
	return b.String() + "User www-data\nGroup www-data\nServerName localhost\nDefaultRuntimeDir " + s.dir + "\nPidFile pid\nTypesConfig /dev/null\nErrorLog /dev/stderr\nListen 127.0.0.1:" + s.port + " https\n" + block
}

func wrapCaddy(s site, block string) string {
	name := regexp.MustCompile(`(?m)^([a-z]+\.example) \{$`)
	block = name.ReplaceAllString(block, "https://$1:"+s.port+" {\nbind 127.0.0.1\ntls "+s.certificate+" "+s.key)
	return "{\nadmin off\nauto_https disable_redirects\n}\n" + block
}

// proxy runs the web server that a block configures, in front of the servers that run. Then
// the sites of the page lead to it, for curl too. Without that program the block is skipped.
func (r *reader) proxy(b fence) {
	r.t.Run(b.language, func(t *testing.T) {
		kind := proxies[b.language]
		program := findProgram(t, kind.program)
		s := newSite(t, r)
		config := b.text
		for port, address := range r.addresses {
			config = strings.ReplaceAll(config, "http://127.0.0.1:"+port, address)
			config = strings.ReplaceAll(config, "127.0.0.1:"+port, strings.TrimPrefix(address, "http://"))
		}
		file := filepath.Join(s.dir, "configuration")
		r.write(file, kind.wrap(s, config))
		r.startProxy(t, s, exec.Command(program, kind.start(file, s.dir)...))
	})
}

func findProgram(t *testing.T, name string) string {
	t.Helper()
	if path, err := exec.LookPath(filepath.Join("/usr/sbin", name)); err == nil {
		return path
	}
	dbtest.NeedProgram(t, name)
	return name
}

// newSite makes a folder, a certificate for the sites of pages, and chooses a port.
func newSite(t *testing.T, r *reader) site {
	t.Helper()
	s := site{page: r.page, dir: r.t.TempDir()}
	s.certificate, s.key = filepath.Join(s.dir, "site.crt"), filepath.Join(s.dir, "site.key")
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "the test's sites"}, NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"site.example", "shop.example"}}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))(t)
	secret := must.Get(x509.MarshalPKCS8PrivateKey(key))(t)
	r.write(s.certificate, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	r.write(s.key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	_, s.port, _ = net.SplitHostPort(l.Addr().String())
	return s
}

// startProxy starts a web server, which ends with the page, and asks it for what the page has behind it.
func (r *reader) startProxy(t *testing.T, s site, c *exec.Cmd) {
	t.Helper()
	var talk strings.Builder
	c.Dir, c.Stdout, c.Stderr = s.dir, &talk, &talk
	c.Env = append(os.Environ(), "HOME="+s.dir, "XDG_DATA_HOME="+s.dir, "XDG_CONFIG_HOME="+s.dir)
	end := endWithItsChildren(c)
	must.Do(t, c.Start())
	ended := make(chan struct{})
	go func() {
		_ = c.Wait()
		close(ended)
	}()
	r.t.Cleanup(func() {
		end()
		<-ended
	})
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(readText(t, s.certificate)))
	r.outside = &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, "127.0.0.1:"+s.port)
		},
	}
	r.t.Cleanup(r.outside.CloseIdleConnections)
	for listening := false; !listening; {
		select {
		case <-ended:
			t.Fatalf("%s: %s ended: %s", r.page, c.Path, talk.String())
		default:
			conn, err := net.Dial("tcp", "127.0.0.1:"+s.port)
			if listening = err == nil; listening {
				_ = conn.Close()
			}
		}
	}
	r.write(filepath.Join(r.home, ".curlrc"), fmt.Sprintf("silent\nshow-error\nfail-with-body\ncacert = %s\nconnect-to = \"site.example:443:127.0.0.1:%s\"\nconnect-to = \"shop.example:443:127.0.0.1:%[2]s\"\n", s.certificate, s.port))
	r.checkProxy(t)
}

// checkProxy sees that a proxy passes on what belongs to us, over HTTP/2, and what we need to know of the visitor.
func (r *reader) checkProxy(t *testing.T) {
	t.Helper()
	url, want := "https://site.example/admincp/setup", http.StatusOK
	if r.addresses[addonPort] == "" {
		url, want = "https://shop.example/api/items/all", http.StatusUnauthorized
	}
	answer := must.Get((&http.Client{Transport: r.outside}).Get(url))(t)
	defer answer.Body.Close()
	if answer.StatusCode != want || answer.ProtoMajor != 2 || answer.Header.Get("X-Request-Id") == "" {
		t.Errorf("%s: %s %s, %v; want %d over HTTP/2", url, answer.Proto, answer.Status, answer.Header, want)
	}
	if want == http.StatusUnauthorized {
		r.checkLargeRequests(t)
	}
}

// checkLargeRequests sees that the store answers requests that are too large, not the proxy, and each anew.
func (r *reader) checkLargeRequests(t *testing.T) {
	t.Helper()
	seen := map[string]bool{"": true}
	for range 2 {
		answer := must.Get((&http.Client{Transport: r.outside}).Post("https://shop.example/api/purchases/validation", "text/plain", strings.NewReader(strings.Repeat("a", 2<<20))))(t)
		answer.Body.Close()
		id := answer.Header.Get("X-Request-Id")
		if answer.StatusCode != http.StatusRequestEntityTooLarge || seen[id] {
			t.Errorf("2 MiB: %s, request %q of %v", answer.Status, id, seen)
		}
		seen[id] = true
	}
}

// checkDropIn holds the unit of the store, with what a block adds to it, to what systemd finds wrong.
func (r *reader) checkDropIn(b fence) {
	r.t.Run("systemd", func(t *testing.T) {
		dbtest.NeedProgram(t, "systemd-analyze")
		name := filepath.Join(r.dir, "countersign-store.service")
		unit := readText(t, "deploy/systemd/countersign-store.service") + b.text
		r.write(name, strings.ReplaceAll(unit, "/usr/bin/countersign", filepath.Join(r.programs.real, "countersign")))
		for _, args := range [][]string{{"verify"}, {"security", "--offline=true", "--threshold=20"}} {
			if out, err := exec.Command("systemd-analyze", append(args, name)...).CombinedOutput(); err != nil || (args[0] == "verify" && len(out) > 0) {
				t.Errorf("systemd-analyze %s: %v\n%s", args[0], err, out)
			}
		}
	})
}

package main

import (
	"bytes"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/must"
)

// A listenerAt says that it listens on an address.
type listenerAt struct {
	net.Listener
	addr string
}

func (l listenerAt) Addr() net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(l.addr)) }

func TestAServerWantsItsURLOnAPublicAddress(t *testing.T) {
	for _, tt := range []struct {
		name, addr, baseURL string
		wanted              bool
	}{
		{"an address of the network", "203.0.113.7:8080", "", true},
		{"a private one", "192.168.1.2:8080", "", true},
		{"all addresses", "0.0.0.0:8080", "", true},
		{"all addresses of both kinds", "[::]:8080", "", true},
		{"all addresses, with a URL", "[::]:8080", "https://shop.example", false},
		{"this machine alone", "127.0.0.1:8080", "", false},
		{"this machine alone, IPv6", "[::1]:8080", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := new(bytes.Buffer)
			l := server{
				log: slog.New(slog.NewTextHandler(out, nil)), listener: listenerAt{addr: tt.addr},
				options: serverOptions{baseURL: tt.baseURL, baseURLVariable: envURL},
			}
			l.advise(nil)
			if got := strings.Contains(out.String(), "--base-url or "+envURL); got != tt.wanted {
				t.Errorf("wanted: %v; the log says %q", got, out)
			}
		})
	}
}

func TestAServerSaysWhatOthersOfTheMachineCanRead(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"store", "addon"} {
		t.Run(command, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			args := []string{command, "serve", "--data", dir}
			if command == "addon" {
				mustRun(t, dir, "addon", "update", "--data", dir)
			}
			s := startServer(t, environment{}, args...)
			s.stop()
			if got := s.stderr.String(); strings.Contains(got, "Other users") {
				t.Errorf("a private folder: %s", got)
			}
			keys, err := filepath.Glob(filepath.Join(dir, "*.key"))
			if err != nil || len(keys) != 1 {
				t.Fatalf("key files: %v, %v", keys, err)
			}
			for path, mode := range map[string]os.FileMode{dir: 0o755, keys[0]: 0o644} {
				must.Do(t, os.Chmod(path, mode))
			}
			s = startServer(t, environment{}, args...)
			s.stop()
			for _, want := range []string{"Other users of this machine can enter", "chmod 700 ", "Other users of this machine can read the key file", "chmod 600 "} {
				if got := s.stderr.String(); !strings.Contains(got, want) {
					t.Errorf("no %q in %s", want, got)
				}
			}
		})
	}
}

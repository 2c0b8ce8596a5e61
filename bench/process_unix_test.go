//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
)

func TestAServerSaysWhereItListens(t *testing.T) {
	for name, c := range map[string]struct {
		script, address, err string
		notInstalled         bool
	}{
		"its first line is its address":              {script: "echo http://127.0.0.1:1; exec sleep 60", address: "http://127.0.0.1:1"},
		"one that says nothing is an error":          {script: "exit 1", err: "did not say where it listens"},
		"77 means that it is not on this machine":    {script: "exit 77", err: "it is not installed", notInstalled: true},
		"an address that can't be read is an error":  {script: "echo wrong; exec sleep 60", err: "this is no address"},
		"one that ends at once has an address first": {script: "echo http://127.0.0.1:1", address: "http://127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			address := func(line string) (string, error) {
				if line == "wrong" {
					return "", errors.New("this is no address")
				}
				return line, nil
			}
			p, err := start(context.Background(), address, nil, os.Stderr, "sh", "-c", c.script)
			if err != nil {
				if c.err == "" || !strings.Contains(err.Error(), c.err) || errors.Is(err, errNotInstalled) != c.notInstalled {
					t.Errorf("error %v", err)
				}
				return
			}
			defer p.stop()
			if c.err != "" || p.address != c.address {
				t.Errorf("address %q, want %q, error %q", p.address, c.address, c.err)
			}
		})
	}
}

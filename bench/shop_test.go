package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAFailureSavesTheServersLog(t *testing.T) {
	failure := errors.New("status 503")
	for name, c := range map[string]struct {
		err   error
		log   bool
		saved bool
	}{
		"of a server that answered wrong":     {failure, true, true},
		"where there is none the error stays": {failure, false, false},
		"what is not installed has none":      {fmt.Errorf("PHP: %w", errNotInstalled), true, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &shop{settings: settings{out: t.TempDir()}}
			if c.log {
				if err := os.WriteFile(s.log(), []byte("why"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			err := s.withLog(c.err)
			if !errors.Is(err, c.err) {
				t.Errorf("error %v", err)
			}
			kept := filepath.Join(s.settings.out, "failed.log")
			text, _ := os.ReadFile(kept)
			if saved := string(text) == "why" && strings.Contains(err.Error(), kept); saved != c.saved {
				t.Errorf("saved is %t, error %v", saved, err)
			}
		})
	}
}

package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/countersign/countersign/bench/program"
)

// serveAddon starts an addon with published settings, which it makes first. What
// an earlier run made is brought up to date.
func (s *shop) serveAddon(ctx context.Context) (*process, error) {
	data := filepath.Join(s.settings.out, "data-addon")
	for _, args := range [][]string{
		{"addon", "update", "--quiet"},
		{"addon", "settings", "set", "appName", "Tuneful"},
		{"addon", "settings", "set", "messengerDomain", "chat.tuneful.example"},
		{"addon", "settings", "publish", "-m", "for the measurement"},
	} {
		if _, err := s.program(ctx, append(args, "--data", data)...); err != nil {
			return nil, err
		}
	}
	return start(ctx, program.Address("addon_url"), nil, os.Stderr, s.binary, "addon", "serve", "--listen", "127.0.0.1:0", "--json", "--quiet", "--data", data)
}

//go:build linux

// Command chaos takes a store's PostgreSQL away in ways that happen in the field, and
// checks that no acknowledged write is missing afterwards, that no answer was wrong, and
// that every request was answered.
//
//	chaos [flags]
//
// It starts a primary and two standbys of its own (synchronous_standby_names is
// 'ANY 1 (…)'), and the store with a URL that names all three. Each server stands behind
// proxies of the harness, so that it can be cut off from the others or from the store. A
// moderate load of validations, licenses and refunds runs all the time. docs/chaos.md says
// how to read what it prints.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

// Command bench measures the store against the floor under it, a bare net/http
// handler that parses the same request and writes the same bytes. Both run as
// processes of their own; one load generator asks them in turn, A B A B, over
// keep-alive connections on loopback, and checks every answer.
//
// The figure that repeats on a noisy machine is processor time per request
// (user and system time of the server's process and of what it started), as a
// ratio to the floor in the same run. That of PostgreSQL is not in it.
//
//	bench [full] [flags]
//
// One run measures one store. full measures stores of 10,000, 1,000,000 and
// 10,000,000 purchases on SQLite and on PostgreSQL, with and without access log,
// and counts stale answers (see stale.go). --timing compares the times of codes that
// callers must not tell apart (see timing.go). docs/performance.md says how to read
// what it prints.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "floor" {
		if err := serveFloor(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "bench floor:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

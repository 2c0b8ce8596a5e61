// Command bench measures the store against the floor under it, a bare net/http
// handler that parses the same request and writes the same bytes. Both run as
// processes of their own; one load generator asks them in turn, A B A B, over
// keep-alive connections on loopback, and checks every answer.
//
// The figure that repeats on a noisy machine is processor time per request
// (user and system time of the server's process), as a ratio to the floor in
// the same run.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"time"
)

// settings says what to measure.
type settings struct {
	out         string
	database    string
	purchases   int
	items       int
	rounds      int
	turn        time.Duration
	connections int
	only        string
	serveFlags  string
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "floor" {
		if err := serveFloor(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "bench floor:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parse(args []string) (settings, error) {
	var s settings
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.StringVar(&s.out, "out", "bench/out", "folder for the binary, the data and the results")
	f.StringVar(&s.database, "db", "", "URL of an empty PostgreSQL database, or of one that an earlier run filled (default SQLite)")
	f.IntVar(&s.purchases, "purchases", 1_000_000, "purchases in the store")
	f.IntVar(&s.items, "items", 1000, "items in the store")
	f.IntVar(&s.rounds, "rounds", 5, "turns of each server in a case; the table shows medians")
	f.DurationVar(&s.turn, "turn", 2*time.Second, "length of a turn")
	f.IntVar(&s.connections, "connections", 64, "keep-alive connections")
	f.StringVar(&s.only, "only", "", "run only the cases whose name contains this")
	f.StringVar(&s.serveFlags, "serve", "", "more flags for store serve, separated by spaces")
	err := f.Parse(args)
	return s, err
}

// result is all that one run prints as JSON.
type result struct {
	Machine   string       `json:"machine"`
	Engine    string       `json:"engine"`
	Purchases int          `json:"purchases"`
	Flags     string       `json:"serve_flags"`
	Cases     []comparison `json:"cases"`
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	shop, err := prepare(ctx, s, stderr)
	if err != nil {
		return err
	}
	r := result{
		Machine: fmt.Sprintf("%s, %d processors, %s", runtime.GOARCH, runtime.NumCPU(), runtime.Version()),
		Engine:  shop.engine(), Purchases: s.purchases, Flags: s.serveFlags,
	}
	for _, c := range cases(s) {
		compared, err := shop.compare(ctx, c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		r.Cases = append(r.Cases, compared)
		fmt.Fprintf(stderr, "%s: %.2f\n", c.name, compared.Ratio)
	}
	printTable(stdout, r)
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(fmt.Sprintf("%s/%s-%d.json", s.out, r.Engine, s.purchases), append(text, '\n'), 0o644)
}

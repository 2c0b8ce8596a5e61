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
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
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
	peer        string
	full        bool
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
	f.StringVar(&s.peer, "peer", "", "`command` that starts a server of another make to measure against, in place of the floor")
	f.BoolVar(&s.full, "full", false, "10,000, 1,000,000 and 10,000,000 purchases, with and without access log, and the same on --db, in which %d stands for the number")
	err := f.Parse(args)
	return s, err
}

// result is all that one run prints as JSON.
type result struct {
	Machine   string `json:"machine"`
	Engine    string `json:"engine"`
	Purchases int    `json:"purchases"`
	Flags     string `json:"serve_flags"`
	Against   string `json:"against"`
	// Start is the time from the start of the process to the first right answer.
	Start time.Duration `json:"start_to_first_answer_ns"`
	Cases []comparison  `json:"cases"`
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	for _, one := range runs(s) {
		if err := measure(ctx, one, stdout, stderr); err != nil {
			return err
		}
	}
	return nil
}

// runs are the runs that the flags ask for.
func runs(s settings) []settings {
	if !s.full {
		return []settings{s}
	}
	var all []settings
	databases := []string{""}
	if s.database != "" {
		databases = append(databases, s.database)
	}
	for _, database := range databases {
		for _, purchases := range []int{10_000, 1_000_000, 10_000_000} {
			one := s
			one.database, one.purchases = strings.ReplaceAll(database, "%d", strconv.Itoa(purchases)), purchases
			all = append(all, one)
			if purchases == 1_000_000 {
				one.serveFlags += " --log json"
				all = append(all, one)
			}
		}
	}
	return all
}

func measure(ctx context.Context, s settings, stdout, stderr io.Writer) error {
	shop, err := prepare(ctx, s, stderr)
	if err != nil {
		return err
	}
	r := result{
		Machine: fmt.Sprintf("%s, %d processors, %s", runtime.GOARCH, runtime.NumCPU(), runtime.Version()),
		Engine:  shop.engine(), Purchases: s.purchases, Flags: s.serveFlags, Against: "a bare net/http handler",
	}
	list := cases(s)
	if s.peer != "" {
		r.Against = s.peer
		list = list[:min(2, len(list))]
	}
	if r.Start, err = shop.startToAnswer(ctx); err != nil {
		return err
	}
	for _, c := range list {
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
	return os.WriteFile(filepath.Join(s.out, r.file()), append(text, '\n'), 0o644)
}

// file is the name under which a result is kept.
func (r result) file() string {
	name := fmt.Sprintf("%s-%d", r.Engine, r.Purchases)
	if strings.Contains(r.Flags, "--log") {
		name += "-log"
	}
	if r.Against != "a bare net/http handler" {
		name += "-" + filepath.Base(filepath.Dir(strings.Fields(r.Against)[0]))
	}
	return name + ".json"
}

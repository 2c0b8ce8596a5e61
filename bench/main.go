// Command bench measures the store against the floor under it, a bare net/http
// handler that parses the same request and writes the same bytes. Both run as
// processes of their own. One load generator sends requests to them in turn, A B A B,
// over keep-alive connections on loopback, and checks every response.
//
// The figure that repeats on a shared machine is processor time per request
// (user and system time of the server's process and its children), as a
// ratio to the floor in the same run. It does not include that of PostgreSQL.
//
//	bench [full] [flags]
//
// One run measures one store. full measures stores of 10,000, 1,000,000 and
// 10,000,000 purchases on SQLite and on PostgreSQL, with and without access log,
// and counts stale answers (see stale.go). --timing compares the times of codes that
// callers must not distinguish (see timing.go). --pages loads every list and report (see
// pages.go), --request-log compares the store with and without its log of API requests, --verify
// verifies in-app purchases with the addon (see verify.go), --outage does so while Play hangs (see outage.go), --backup measures requests beside a backup (see
// backup.go), --move moves a store to PostgreSQL and back (see move.go). docs/performance.md describes the output.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
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

// session is all runs that were asked for at once.
type session struct {
	settings       settings
	stdout, stderr io.Writer
	postgres       *process // nil until a run needs it
	results        []result
}

// report is the outcome of a run. Its JSON is written to a file.
type report interface {
	print(io.Writer)
	// missed is an error that names the bounds whose violation ends the command with 1.
	missed() error
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	all := &session{settings: s, stdout: stdout, stderr: stderr}
	defer func() {
		if all.postgres != nil {
			all.postgres.stop()
		}
	}()
	return all.run(ctx)
}

// run does one run after the other, also after one that failed.
func (all *session) run(ctx context.Context) error {
	var failures []error
	for _, one := range all.settings.runs() {
		err := all.measure(ctx, one)
		if ctx.Err() != nil {
			return errors.Join(append(failures, errors.New("stopped"))...)
		}
		if errors.Is(err, errNotInstalled) && all.settings.mode == modeFull {
			break // the script has reported it, and all later runs are on PostgreSQL, too
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("%s, %d purchases: %w", one.engine(), one.purchases, err))
		}
	}
	if all.settings.mode == modeFull {
		printFigures(all.stdout, growthOf(all.results))
	}
	return errors.Join(failures...)
}

// measure does one run, prints its report and saves it.
func (all *session) measure(ctx context.Context, one settings) error {
	if err := all.usePostgres(ctx, &one); err != nil {
		return err
	}
	shop, err := prepare(ctx, one, all.stderr)
	if err != nil {
		return err
	}
	r, err := all.report(ctx, shop)
	if errors.Is(err, errNotInstalled) {
		return err
	}
	if err != nil {
		return fmt.Errorf("%w\nthe server's log is %s", err, shop.log())
	}
	r.print(all.stdout)
	text, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(one.out, one.file()), append(text, '\n'), 0o644)
	}
	return errors.Join(err, r.missed())
}

// report measures what the mode says.
func (all *session) report(ctx context.Context, shop *shop) (report, error) {
	switch shop.settings.mode {
	case modeStale:
		return shop.countStale(ctx)
	case modeTiming:
		return shop.measureTiming(ctx)
	case modeSilent:
		return shop.besideSilent(ctx, all.stderr)
	case modePages:
		return shop.measurePages(ctx, all.stderr)
	case modeVerify:
		return shop.measureVerifications(ctx)
	case modeOutage:
		return shop.measureOutage(ctx)
	case modeBackup:
		return shop.measureBackup(ctx, all.stderr)
	case modeMove:
		return shop.measureMove(ctx, all.stderr)
	}
	r, err := shop.measure(ctx, all.stderr)
	if err == nil {
		all.results = append(all.results, r)
	}
	return r, err
}

// file is the name under which the JSON of a run is saved.
func (s settings) file() string {
	name := s.engine()
	switch s.mode {
	case modeStale, modeTiming, modeSilent, modePages, modeVerify, modeOutage:
		return name + "-" + string(s.mode[2:]) + ".json"
	}
	name += fmt.Sprintf("-%d", s.purchases)
	if strings.Contains(s.serveFlags, "--log") {
		name += "-log"
	}
	switch s.mode {
	case modeMove:
		return fmt.Sprintf("move-%d.json", s.purchases)
	case modePeer:
		name += "-" + s.peer()
	case modeBaseline, modeLog, modeBackup:
		name += string(s.mode[1:])
	}
	return name + ".json"
}

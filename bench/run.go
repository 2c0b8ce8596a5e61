package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// session is all runs that were asked for at once.
type session struct {
	settings       settings
	stdout, stderr io.Writer
	postgres       *ownServer // nil until a run needs it
	results        []result
	stale          []staleness
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	all := &session{settings: s, stdout: stdout, stderr: stderr}
	defer all.stopPostgres()
	return all.run(ctx)
}

// run does one run after the other. One that fails does not take the others along.
func (all *session) run(ctx context.Context) error {
	var failures []error
	for _, one := range all.settings.runs() {
		err := all.measure(ctx, one)
		if ctx.Err() != nil {
			return errors.Join(append(failures, errors.New("stopped"))...)
		}
		if errors.Is(err, errNotInstalled) && all.settings.full {
			break // and the script has said so: what follows is on PostgreSQL, too
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("%s, %d purchases: %w", one.engine(), one.purchases, err))
		}
	}
	if all.settings.full {
		failures = append(failures, all.summarize())
	}
	return errors.Join(failures...)
}

// measure does one run and keeps what it came to.
func (all *session) measure(ctx context.Context, one settings) error {
	if err := all.usePostgres(ctx, &one); err != nil {
		return err
	}
	shop, err := prepare(ctx, one, all.stderr)
	if err != nil {
		return err
	}
	if one.stale {
		counted, err := shop.countStale(ctx)
		if err != nil {
			return shop.withLog(err)
		}
		all.stale = append(all.stale, counted)
		printStale(all.stdout, counted)
		return writeJSON(one, one.engine()+"-stale.json", counted)
	}
	if one.timing {
		timed, err := shop.measureTiming(ctx)
		if err != nil {
			return shop.withLog(err)
		}
		return errors.Join(printTiming(all.stdout, one.engine(), timed), writeJSON(one, one.engine()+"-timing.json", timed))
	}
	r, err := shop.measure(ctx, all.stderr)
	if err != nil {
		return shop.withLog(err)
	}
	all.results = append(all.results, r)
	printTable(all.stdout, r)
	return writeJSON(one, r.file(), r)
}

// summarize prints what only several runs together show.
func (all *session) summarize() error {
	summary := struct {
		Growth []growth    `json:"growth"`
		Stale  []staleness `json:"stale"`
	}{growthOf(all.results), all.stale}
	for _, g := range summary.Growth {
		printGrowth(all.stdout, g)
	}
	return writeJSON(all.settings, "full.json", summary)
}

func writeJSON(s settings, name string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.out, name), append(text, '\n'), 0o644)
}

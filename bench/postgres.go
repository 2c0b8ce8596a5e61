package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
)

// ownServer is a PostgreSQL server of the harness's own, for as long as the
// harness lives; see postgres/start.
type ownServer struct {
	*process
	alive *os.File // the server's standard input, which ends with this process
}

// usePostgres puts the URL of a database on the harness's own server into a run
// that wants one, and starts the server when it is the first.
func (all *session) usePostgres(ctx context.Context, one *settings) error {
	if one.database != ownPostgres {
		return nil
	}
	if all.postgres == nil {
		var names []string
		for _, s := range all.settings.runs() {
			if s.database == ownPostgres {
				names = append(names, s.databaseName())
			}
		}
		var err error
		if all.postgres, err = startPostgres(ctx, all.settings.out, names); err != nil {
			return err
		}
	}
	u, err := url.Parse(all.postgres.address)
	if err != nil {
		return err
	}
	u.Path = "/" + one.databaseName()
	one.database = u.String()
	return nil
}

func startPostgres(ctx context.Context, out string, databases []string) (*ownServer, error) {
	input, alive, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer input.Close()
	p, err := start(ctx, printed, input, os.Stderr, "bench/postgres/start", append([]string{out}, databases...)...)
	if err != nil {
		_ = alive.Close()
		return nil, fmt.Errorf("PostgreSQL: %w", err)
	}
	return &ownServer{p, alive}, nil
}

func (all *session) stopPostgres() {
	if all.postgres != nil {
		all.postgres.stop()
		_ = all.postgres.alive.Close()
	}
}

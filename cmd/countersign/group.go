package main

import (
	"log/slog"

	"github.com/countersign/countersign/internal/web"
)

// group is the goroutines beside a server. The end of one, wanted or not, ends
// the server.
type group struct {
	log   *slog.Logger
	stop  func()
	parts []part
}

type part struct {
	panicked <-chan error
	result   <-chan error
}

func (g *group) start(name string, work func() error) {
	result := make(chan error, 1)
	panicked := web.Go(g.log, name, func() {
		defer g.stop()
		result <- work()
	})
	g.parts = append(g.parts, part{panicked, result})
}

// wait waits for all and returns the first error.
func (g *group) wait() error {
	var first error
	for _, p := range g.parts {
		err := <-p.panicked
		if err == nil {
			err = <-p.result
		}
		if first == nil {
			first = err
		}
	}
	return first
}

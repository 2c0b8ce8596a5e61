package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// terminal is the three streams of the program and what is behind them.
type terminal struct {
	in         io.Reader
	out, err   *stream
	inIsPerson bool // stdin is a terminal: somebody can answer
}

func newTerminal(stdin io.Reader, stdout, stderr io.Writer) *terminal {
	return &terminal{
		in: stdin, inIsPerson: isTerminal(stdin),
		out: &stream{to: stdout, isTerminal: isTerminal(stdout)},
		err: &stream{to: stderr, isTerminal: isTerminal(stderr)},
	}
}

func isTerminal(of any) bool {
	file, ok := of.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// stream is stdout or stderr. Goroutines may share it.
type stream struct {
	isTerminal bool
	mu         sync.Mutex
	to         io.Writer
	failed     error // the first failure
}

// Write implements io.Writer.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.to.Write(p)
	if err != nil {
		err = fail(exitFailed, "output_failed", fmt.Sprintf("the output can't be written (%v); make room for it, or send it elsewhere", reason(err)))
		if s.failed == nil {
			s.failed = err
		}
	}
	return n, err
}

func (s *stream) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// The colours of a verdict.
const (
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
)

// colour paints text that is printed to a stream, where that may be.
func (a *app) colour(on *stream, code, text string) string {
	if a.plain() || !on.isTerminal {
		return text
	}
	return code + text + "\x1b[0m"
}

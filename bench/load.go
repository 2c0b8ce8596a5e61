package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// request is one request and what its response must be.
type request struct {
	bytes    []byte
	status   int
	contains []byte
}

// load is the outcome of one turn.
type load struct {
	requests  int
	elapsed   time.Duration
	latencies []time.Duration // of a sample, sorted
	bodyBytes int
}

// sampleEvery is how many requests share one measured latency.
const sampleEvery = 16

// generate sends requests to a server over n connections for a while, or until there is no
// next request. With check, a response that is not as it must be is an error.
func generate(ctx context.Context, address string, n int, turn time.Duration, next func(*rand.Rand) (request, bool), check bool) (load, error) {
	ctx, stop := context.WithTimeout(ctx, turn)
	defer stop()
	loads := make([]load, n)
	errs := make([]error, n)
	start := time.Now()
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() { loads[i], errs[i] = ask(ctx, address, next, check) })
	}
	wait.Wait()
	total := load{elapsed: time.Since(start)}
	for _, l := range loads {
		total.requests += l.requests
		total.bodyBytes += l.bodyBytes
		total.latencies = append(total.latencies, l.latencies...)
	}
	slices.Sort(total.latencies)
	return total, errors.Join(errs...)
}

// ask draws anew in every turn: codes that were asked before would be found in memory,
// and what was written before is not written again.
func ask(ctx context.Context, address string, next func(*rand.Rand) (request, bool), check bool) (load, error) {
	var l load
	random := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	conn, err := dial(address)
	if err != nil {
		return l, err
	}
	defer conn.Close()
	answers := bufio.NewReaderSize(conn, 64<<10)
	var body []byte
	for ctx.Err() == nil {
		r, more := next(random)
		if !more {
			break
		}
		began := time.Now()
		if _, err := conn.Write(r.bytes); err != nil {
			return l, err
		}
		status, b, err := readAnswer(answers, body)
		if err != nil {
			return l, err
		}
		body = b
		if check && (status != r.status || !bytes.Contains(body, r.contains)) {
			return l, fmt.Errorf("status %d, body %.200s, in answer to %.300s", status, body, r.bytes)
		}
		if l.requests%sampleEvery == 0 {
			l.latencies = append(l.latencies, time.Since(began))
		}
		l.requests++
		l.bodyBytes += len(body)
	}
	return l, nil
}

// hostOf is the host and port of an address.
func hostOf(address string) string { return address[strings.Index(address, "//")+2:] }

// trustAll is for servers of the harness, whose certificate nobody has signed.
var trustAll = &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}}

// dial opens a connection to a server.
func dial(address string) (net.Conn, error) {
	if strings.HasPrefix(address, "https://") {
		return tls.Dial("tcp", hostOf(address), trustAll)
	}
	return net.Dial("tcp", hostOf(address))
}

// readAnswer reads one answer; every answer here says its length.
func readAnswer(in *bufio.Reader, body []byte) (status int, _ []byte, err error) {
	length := 0
	for first := true; ; first = false {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return 0, nil, err
		}
		switch {
		case first:
			if status, err = strconv.Atoi(string(line[9:12])); err != nil {
				return 0, nil, err
			}
		case len(line) == 2:
			if cap(body) < length {
				body = make([]byte, length)
			}
			_, err := io.ReadFull(in, body[:length])
			return status, body[:length], err
		case bytes.HasPrefix(line, []byte("Content-Length: ")):
			if length, err = strconv.Atoi(string(bytes.TrimSpace(line[16:]))); err != nil {
				return 0, nil, err
			}
		}
	}
}

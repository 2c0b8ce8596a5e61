// Command release builds what users install, from this source, into a folder:
//
//   - archives with a static binary for Linux, macOS and Windows,
//   - packages for Debian and Red Hat (.deb, .rpm) with units of systemd,
//   - a container image for Linux as an OCI archive, built without a daemon,
//   - a bill of materials (SPDX 2.3) and the check sums of all files.
//
// Two builds of one commit have equal bytes. It needs git, and the network for nfpm.
//
//	go run ./release [-out dist] [-version 1.2.3] [-only linux/amd64]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, log io.Writer) error {
	r := release{source: ".", log: log}
	fs := flag.NewFlagSet("release", flag.ContinueOnError)
	fs.SetOutput(log)
	fs.StringVar(&r.out, "out", "dist", "the `folder` to write to; it must be empty or missing")
	version := fs.String("version", "", "the `version`, like 1.2.3 (default: from the tags of git)")
	fs.Func("only", "build for one `platform`, like linux/amd64 (repeatable; default: all)", func(text string) error {
		p, err := parsePlatform(text)
		r.platforms = append(r.platforms, p)
		return err
	})
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if len(r.platforms) == 0 {
		r.platforms = platforms
	}
	var err error
	if r.commit, err = describe(ctx, r.source); err != nil {
		return err
	}
	if *version != "" {
		r.version = strings.TrimPrefix(*version, "v")
	}
	return r.build(ctx)
}

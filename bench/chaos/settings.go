//go:build linux

package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// options say what to try.
type options struct {
	// only are the names of scenarios; all of them without one.
	only   []string
	binary string
	out    string
	short  bool
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	var only string
	f := flag.NewFlagSet("chaos", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&only, "only", "", "`names` of scenarios, separated by commas: "+strings.Join(names(), ", "))
	f.StringVar(&o.binary, "binary", "", "`path` of the countersign binary under test (default: this source is built)")
	f.StringVar(&o.out, "out", "bench/out", "`folder` for the binary and for the logs of scenarios that fail")
	f.BoolVar(&o.short, "short", false, "no fault lasts longer than 6 seconds")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q: expected flags only", f.Arg(0))
	}
	if only == "" {
		o.only = names()
		return o, nil
	}
	o.only = strings.Split(only, ",")
	for _, name := range o.only {
		if !slices.Contains(names(), name) {
			return o, fmt.Errorf("unknown scenario %q: expected %s", name, strings.Join(names(), ", "))
		}
	}
	return o, nil
}

// names lists all scenarios.
func names() []string {
	var all []string
	for _, s := range scenarios {
		all = append(all, s.name)
	}
	return all
}

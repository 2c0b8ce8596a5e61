package main

import (
	"strconv"

	"github.com/countersign/countersign/internal/cli"
	"github.com/spf13/cobra"
)

// limitFlags adds the flags of a list that can be long: --limit, and --all for --limit 0.
func limitFlags(c *cobra.Command, limit *int) {
	c.Flags().IntVar(limit, "limit", 50, "how many at most; 0 for all")
	c.Flags().BoolFunc("all", "list all, like --limit 0", func(text string) error {
		all, err := strconv.ParseBool(text)
		if all {
			*limit = 0
		}
		return err
	})
}

// pageFlags is limitFlags for a list that can also begin later. one and many name its entries.
func pageFlags(c *cobra.Command, limit *int, before *int64, one, many string) *cobra.Command {
	limitFlags(c, limit)
	c.Flags().Int64Var(before, "before", 0, "only "+many+" before this `number`")
	c.PreRunE = cli.Refuse(func() bool { return *limit < 0 || *before < 0 },
		"--limit is a number of "+many+", and --before the number of "+one)
	return c
}

// listNewest prints the views that each adds, but no more than limit, which 0 does not bound. Where there are more, it says so on
// stderr, also with --quiet.
func listNewest[V any](a *app, limit int, nothing string, each func(limit int, add func(V) error) error) error {
	return listUpTo(a, limit, nothing, func() { a.Note("These are the newest %d. There are more: --all lists them.", limit) }, each)
}

// listPages is listNewest for things that are read page by page, by their numbers.
func listPages[T, V any](a *app, limit int, before int64, nothing string, view func(T) (number int64, v V), read func(before int64, limit int) ([]T, error)) error {
	var last int64 // number of the last one that is printed
	more := func() { a.Note("There are earlier ones. To list them, use --before %d, or --all.", last) }
	return listUpTo(a, limit, nothing, more, func(ask int, add func(V) error) error {
		return eachPage(before, ask, read, func(n int, thing T) (int64, error) {
			number, v := view(thing)
			if limit == 0 || n <= limit {
				last = number
			}
			return number, add(v)
		})
	})
}

// listUpTo asks each for one view more than limit, to know whether there are more.
func listUpTo[V any](a *app, limit int, nothing string, more func(), each func(limit int, add func(V) error) error) error {
	l := cli.NewList[V](a.Console)
	ask, beyond := limit, false
	if limit > 0 {
		ask++
	}
	err := each(ask, func(v V) error {
		if beyond = limit > 0 && l.Len() == limit; beyond {
			return nil
		}
		return l.Add(v)
	})
	if err == nil {
		err = l.End(nothing)
	}
	if err == nil && beyond {
		more()
	}
	return err
}

// pageSize is how many things one call of a service returns at most.
const pageSize = 500

// eachPage calls fn with up to limit things, 0 for all, counted from 1. It returns the number before which the next page begins.
func eachPage[T any](before int64, limit int, read func(before int64, limit int) ([]T, error), fn func(n int, thing T) (number int64, err error)) error {
	for n := 0; limit == 0 || n < limit; {
		want := pageSize
		if limit > 0 {
			want = min(want, limit-n)
		}
		page, err := read(before, want)
		if err != nil {
			return err
		}
		for _, thing := range page {
			n++
			if before, err = fn(n, thing); err != nil {
				return err
			}
		}
		if len(page) < want {
			return nil
		}
	}
	return nil
}

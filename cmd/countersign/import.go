package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/transfer"
	"github.com/spf13/cobra"
)

func newImport(a *app) *cobra.Command {
	var flags importFlags
	c := &cobra.Command{
		Use: "import FILE", Short: "Read items, purchases and more from a file of CSV or JSON Lines", Args: cli.Args("file"),
		Long: `Read items or purchases from a file of CSV, or workspaces, keys, items, purchases and licenses
from a file with one JSON object a line.

Importing the same file twice changes nothing; an edited line updates. If a line is not valid,
nothing is written. Invalid lines are printed on stderr and copied to FILE.rejected.jsonl, or to
FILE.rejected.csv with their reasons in a column.

The first row of CSV names its columns. Names like "Purchase Code", "Sale Date" or "Item ID" are
known; --map names others, and the next file with the same columns needs no --map. A column that
is not in the file stays as it is. The separator may be a comma, semicolon, tab or bar.

With - in place of FILE, the lines are read from stdin, to a temporary file in the data folder,
and invalid lines are copied to stdin.rejected.jsonl or .csv in the current folder.

Exit codes: 0 written, 1 nothing written because of invalid lines, 4 --dry-run found invalid
lines, 8 --skip-bad wrote the others.`,
		Example: `  countersign store import shop.jsonl --dry-run
  countersign store import sales.csv --workspace ada --map 'Ref=purchase_code,Notes=' --set license_type=Regular
  ssh old.example shop-export | countersign store import -`,
		PreRunE: flags.parse,
		RunE: func(c *cobra.Command, args []string) error {
			open := a.withNewStore
			if flags.o.DryRun {
				open = a.withStoreToTry
			}
			if args[0] == "-" {
				return open(c, func(ctx context.Context, s *store.Store) error { return a.importStdin(ctx, s, flags) })
			}
			file, size, err := a.openImport(args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			return open(c, func(ctx context.Context, s *store.Store) error {
				return a.importFile(ctx, s, file, importedFile{args[0], size}, flags)
			})
		},
	}
	flags.register(a, c)
	return c
}

func (a *app) openImport(path string) (file *os.File, size int64, err error) {
	info, err := os.Stat(a.Path(path))
	if err == nil && !info.Mode().IsRegular() {
		return nil, 0, cli.Fail(cli.ExitUsage, "usage", fmt.Sprintf("%s is not a regular file; write the lines to a file first and name it", path))
	}
	if file, err = a.openFile(path); err != nil {
		return nil, 0, err
	}
	return file, info.Size(), nil
}

// importedFile describes a file of lines: the name beside which rejected lines go, and the size in bytes.
type importedFile struct {
	name string
	size int64
}

// importStdin imports what stdin has, which is read twice and so copied first.
func (a *app) importStdin(ctx context.Context, s *store.Store, flags importFlags) (err error) {
	if a.Person {
		a.Say("Reading lines from the terminal. End with Ctrl-D.")
	}
	file, size, err := a.Spool(ctx, s.Instance.Options.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cli.RemoveSpool(file)) }()
	return a.importFile(ctx, s, file, importedFile{"stdin", size}, flags)
}

// maxToldLines is how many bad lines are printed. All are in the file of rejected lines.
const maxToldLines = 100

func (a *app) importFile(ctx context.Context, s *store.Store, file io.ReadSeeker, about importedFile, flags importFlags) error {
	o, err := flags.options(file, about.name)
	if err != nil {
		return err
	}
	bad, err := a.newRejects(about.name, o.CSV != nil)
	if err != nil {
		return err
	}
	progress, read := a.readingProgress(about.size)
	printed := 0
	o.Progress, o.Bad = read, func(line int, reason string, raw []byte) {
		if printed++; printed <= maxToldLines {
			progress.clear()
			fmt.Fprintf(a.Err, "line %d: %s\n", line, cli.Safe(reason))
		}
		bad.add(raw)
	}
	report, err := s.Transfer.Import(ctx, operator(), file, o)
	progress.clear()
	bad.close()
	if err != nil {
		return err
	}
	if more := printed - maxToldLines; more > 0 {
		a.Say("%s not printed", cli.Count(more, "other bad line is", "other bad lines are"))
	}
	if err := a.printImport(report, bad, o.DryRun); err != nil {
		return err
	}
	return importVerdict(report, bad, o.DryRun)
}

// importVerdict is nil for an import that did what it was asked.
func importVerdict(report transfer.ImportReport, bad *rejects, dryRun bool) error {
	if report.Bad == 0 {
		return nil
	}
	found := fmt.Sprintf("of %s, %s not valid; %s", cli.Count(report.Lines, "line", "lines"), cli.Count(report.Bad, "is", "are"), bad.location())
	switch {
	case dryRun:
		return cli.Fail(cli.ExitNo, "bad_lines", "nothing was written (--dry-run): "+found+"; correct them before the import")
	case !report.Written:
		return cli.Fail(cli.ExitFailed, "bad_lines", "nothing was written: "+found+"; correct them, or write the others with --skip-bad")
	}
	return cli.Fail(cli.ExitPartly, "bad_lines", "the valid lines were written, the others not: "+found+"; correct them and import that file")
}

package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/transfer"
	"github.com/spf13/cobra"
)

// importFlags say how an import goes.
type importFlags struct{ dryRun, skipBad bool }

func newImport(a *app) *cobra.Command {
	var flags importFlags
	c := &cobra.Command{
		Use: "import FILE", Short: "Read workspaces, keys, items, purchases and licenses from a file of JSON Lines", Args: one("file"),
		Long: `Read workspaces, keys, items, purchases and licenses from a file with one JSON object a line.

The same file twice changes nothing, and an edited line updates. When there is a bad line,
nothing is written; bad lines are told on stderr and copied to FILE.rejected.jsonl.

Exit codes: 0 written, 1 nothing written because of bad lines, 4 --dry-run found bad lines,
8 --skip-bad wrote the others.`,
		RunE: func(c *cobra.Command, args []string) error {
			file, size, err := openImport(args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			return a.withNewStore(c, func(ctx context.Context, s *store.Store) error {
				return a.importFile(ctx, s, file, size, flags)
			})
		},
	}
	c.Flags().BoolVar(&flags.dryRun, "dry-run", false, "write nothing, only tell what would happen")
	c.Flags().BoolVar(&flags.skipBad, "skip-bad", false, "write the good lines although there are bad ones")
	return c
}

func openImport(path string) (file *os.File, size int64, err error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, 0, fail(exitUsage, "usage", fmt.Sprintf("%s is not a regular file; write the lines to a file first and name it", path))
	}
	if err == nil {
		file, err = os.Open(path)
	}
	switch {
	case os.IsNotExist(err):
		return nil, 0, fail(exitNotFound, "file_not_found", fmt.Sprintf("no such file: %s; check its name", path))
	case err != nil:
		return nil, 0, fail(exitFailed, "file_unreadable", fmt.Sprintf("%s can't be read (%v); make it readable for this user", path, reason(err)))
	}
	return file, info.Size(), nil
}

func (a *app) importFile(ctx context.Context, s *store.Store, file *os.File, size int64, flags importFlags) error {
	bad, err := newRejects(file.Name())
	if err != nil {
		return err
	}
	progress := a.newProgress(size)
	report, err := s.Transfer.Import(ctx, operator(), file, transfer.ImportOptions{
		DryRun: flags.dryRun, SkipBad: flags.skipBad, Progress: progress.read,
		Bad: func(line int, reason string, raw []byte) {
			progress.clear()
			fmt.Fprintf(a.term.err, "line %d: %s\n", line, safe(reason))
			bad.add(raw)
		},
	})
	progress.clear()
	bad.close()
	if err != nil {
		return err
	}
	if err := a.printImport(report, bad, flags); err != nil {
		return err
	}
	return importVerdict(report, bad, flags)
}

// importJSON is an import's report as --json prints it.
type importJSON struct {
	transfer.ImportReport
	DryRun       bool    `json:"dry_run"`
	RejectedFile *string `json:"rejected_file"`
}

func (a *app) printImport(report transfer.ImportReport, bad *rejects, flags importFlags) error {
	if a.json {
		out := importJSON{ImportReport: report, DryRun: flags.dryRun}
		if path, ok := bad.written(); ok {
			out.RejectedFile = &path
		}
		return a.printJSON(out)
	}
	a.warnWeak(report.WeakCodes, "purchase code", "purchase codes", transfer.SafeCodeBits)
	a.warnWeak(report.WeakKeys, "imported key", "imported keys", transfer.SafeKeyBits)
	if !report.Written && !flags.dryRun {
		return nil
	}
	for _, part := range []struct {
		name  string
		moved transfer.Moved
		rare  bool // not worth a line when there is none
	}{
		{"workspaces", report.Workspaces, false}, {"keys", report.Keys, false}, {"items", report.Items, false},
		{"purchases", report.Purchases, false}, {"license keys", report.LicenseKeys, true}, {"licenses", report.Licenses, true},
	} {
		if part.rare && part.moved == (transfer.Moved{}) {
			continue
		}
		a.say("%s: %s new, %s changed, %s unchanged", part.name, thousands(part.moved.New), thousands(part.moved.Changed), thousands(part.moved.Same))
	}
	if flags.dryRun && report.Bad == 0 {
		a.say("Nothing was written (--dry-run).")
	}
	return nil
}

// warnWeak warns of texts that are easy to guess, without showing any.
func (a *app) warnWeak(w transfer.Weak, one, many string, safe int) {
	if w.Count == 0 {
		return
	}
	lines := make([]string, len(w.Lines))
	for i, line := range w.Lines {
		lines[i] = strconv.Itoa(line)
	}
	where := "line " + lines[0]
	if w.Count > 1 {
		where = "for example lines " + strings.Join(lines, ", ")
	}
	a.say("warning: %s can be guessed: fewer than %d bits by length and characters, the weakest %d (%s)", count(w.Count, one, many), safe, w.LeastBits, where)
}

// importVerdict is nil for an import that did what it was asked.
func importVerdict(report transfer.ImportReport, bad *rejects, flags importFlags) error {
	if report.Bad == 0 {
		return nil
	}
	found := fmt.Sprintf("of %s, %s bad; %s", count(report.Lines, "line", "lines"), count(report.Bad, "is", "are"), bad.place())
	switch {
	case flags.dryRun:
		return fail(exitNo, "bad_lines", "nothing was written (--dry-run): "+found+"; correct them before the import")
	case !report.Written:
		return fail(exitFailed, "bad_lines", "nothing was written: "+found+"; correct them, or write the others with --skip-bad")
	}
	return fail(exitPartly, "bad_lines", "the good lines were written, the others not: "+found+"; correct them and import that file")
}

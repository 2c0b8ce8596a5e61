package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/transfer"
	"github.com/schollz/progressbar/v3"
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
	if err == nil {
		file, err = os.Open(a.Path(path))
	}
	switch {
	case os.IsNotExist(err):
		return nil, 0, cli.Fail(cli.ExitNotFound, "file_not_found", fmt.Sprintf("no such file: %s; check its name", path))
	case err != nil:
		return nil, 0, cli.Fail(cli.ExitFailed, "file_unreadable", fmt.Sprintf("%s can't be read (%v); make it readable for this user", path, fault.FileReason(err)))
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
	file, size, err := a.Spool(ctx, s.Dir())
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
	told := 0
	o.Progress, o.Bad = read, func(line int, reason string, raw []byte) {
		if told++; told <= maxToldLines {
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
	if more := told - maxToldLines; more > 0 {
		a.Say("%s not printed", cli.Count(more, "other bad line is", "other bad lines are"))
	}
	if err := a.printImport(report, bad, o.DryRun); err != nil {
		return err
	}
	return importVerdict(report, bad, o.DryRun)
}

type importView struct {
	transfer.ImportReport
	DryRun       bool    `json:"dry_run"`
	RejectedFile *string `json:"rejected_file"`
}

func (a *app) printImport(report transfer.ImportReport, bad *rejects, dryRun bool) error {
	if a.JSON {
		out := importView{ImportReport: report, DryRun: dryRun}
		if bad.file != nil && bad.failed == nil {
			out.RejectedFile = &bad.path
		}
		return a.PrintJSON(out)
	}
	if report.CSV != nil {
		a.sayCSV(report)
	}
	a.warnWeak(report.WeakCodes, "purchase code", "purchase codes", transfer.SafeCodeBits)
	a.warnWeak(report.WeakKeys, "imported key", "imported keys", transfer.SafeKeyBits)
	if n := report.NoPicture; n.Count > 0 {
		a.Say("warning: %s a thumbnail or a preview image; clients get a default picture (%s)", cli.Count(n.Count, "item lacks", "items lack"), namedLines(n.Count, n.Lines))
	}
	if report.CSV != nil {
		a.sayUnknown(report.CSV)
	}
	if !report.Written && !dryRun {
		return nil
	}
	if report.CSV != nil {
		a.sayRows(report)
	} else {
		a.sayLines(report)
	}
	switch {
	case dryRun && report.Bad == 0:
		a.Say("Nothing was written (--dry-run).")
	case report.ID > 0:
		a.Say("For 24 hours, undo it with: countersign store imports undo %d", report.ID)
	}
	return nil
}

// dateOrders tells how dates like 04/05/2024 were read.
var dateOrders = map[transfer.DateOrder]string{transfer.DatesDayFirst: ", dates with the day first", transfer.DatesMonthFirst: ", dates with the month first"}

// maxToldColumns is how many ignored columns are named.
const maxToldColumns = 8

// sayCSV says how a file of CSV was read.
func (a *app) sayCSV(report transfer.ImportReport) {
	r := report.CSV
	a.Say("%s, separator %s, %s%s", cli.Count(report.Lines, "row", "rows"), r.Separator, r.Encoding, dateOrders[r.Dates])
	if r.Shop != "" {
		a.Say("an export of %s", r.Shop)
	}
	var columns, ignored []string
	for _, c := range r.Columns {
		if c.Field == "" {
			ignored = append(ignored, cli.Safe(c.Name))
		} else {
			columns = append(columns, cli.Safe(c.Name)+" = "+c.Field)
		}
	}
	if n := len(ignored); n > maxToldColumns {
		columns = append(columns, fmt.Sprintf("%d others are ignored", n))
	} else if n > 0 {
		columns = append(columns, "ignored: "+strings.Join(ignored, ", "))
	}
	from := "columns"
	if r.Remembered {
		from = "columns as in the last import of such a file (--map changes them)"
	}
	a.Say("%s: %s", from, strings.Join(columns, ", "))
}

// sayRows says what an import did with rows of CSV.
func (a *app) sayRows(report transfer.ImportReport) {
	m := report.Purchases
	if report.Items != (transfer.Moved{}) {
		m = report.Items
	}
	a.Say("%s new · %s changed · %s unchanged · %s repeated · %s rejected%s", cli.Thousands(m.New), cli.Thousands(m.Changed), cli.Thousands(m.Same), cli.Thousands(m.Repeated), cli.Thousands(int64(report.Bad)), skippedRows(report.Skipped))
	if n := report.Kept; n.Count > 0 {
		a.Say("warning: %s refunded, charged back or revoked, although the file has them as sold (%s); restore them with: countersign store purchase restore", cli.Count(n.Count, "code stays", "codes stay"), namedLines(n.Count, n.Lines))
	}
	if report.Split > 0 {
		a.Say("%s by rows with several codes", cli.Count(report.Split, "more purchase", "more purchases"))
	}
}

// shellQuoted is a text as a shell reads it.
func shellQuoted(text string) string {
	return "'" + strings.ReplaceAll(cli.Safe(text), "'", `'\''`) + "'"
}

// sayUnknown asks what words of CSV mean.
func (a *app) sayUnknown(r *transfer.CSVReport) {
	var flags []string
	for _, word := range r.UnknownStates {
		flags = append(flags, "--state "+shellQuoted(word+"=…"))
	}
	for _, name := range r.UnknownItems {
		flags = append(flags, "--item "+shellQuoted(name+"=…"))
	}
	if len(flags) > 0 {
		a.Say("say what these mean, once: %s", strings.Join(flags, " "))
	}
}

// skippedRows says how many rows were left out, and because of which words; it is "" for none.
func skippedRows(list []transfer.Skipped) string {
	all, words := 0, make([]string, len(list))
	for i, s := range list {
		all += s.Count
		words[i] = cli.Thousands(int64(s.Count)) + " " + cli.Safe(s.Word)
	}
	if all == 0 {
		return ""
	}
	return fmt.Sprintf(" · %s skipped (%s)", cli.Thousands(int64(all)), strings.Join(words, ", "))
}

// sayLines says what an import did with lines of each type.
func (a *app) sayLines(report transfer.ImportReport) {
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
		a.Say("%s: %s new, %s changed, %s unchanged, %s repeated", part.name, cli.Thousands(part.moved.New), cli.Thousands(part.moved.Changed), cli.Thousands(part.moved.Same), cli.Thousands(part.moved.Repeated))
	}
}

// warnWeak warns of texts that are easy to guess, without showing any.
func (a *app) warnWeak(w transfer.Weak, one, many string, safe int) {
	if w.Count == 0 {
		return
	}
	a.Say("warning: %s can be guessed: fewer than %d bits by length and characters, the weakest %d (%s)", cli.Count(w.Count, one, many), safe, w.LeastBits, namedLines(w.Count, w.Lines))
}

// namedLines names the first of count lines.
func namedLines(count int, first []int) string {
	lines := make([]string, len(first))
	for i, line := range first {
		lines[i] = strconv.Itoa(line)
	}
	if count == 1 {
		return "line " + lines[0]
	}
	return "for example lines " + strings.Join(lines, ", ")
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

// rejects copies the bad lines of an import to a file beside it. The file is
// made with the first one.
type rejects struct {
	path   string // as messages name it
	at     string // where it is
	file   *os.File
	failed error // of writing it; the import goes on
}

// newRejects removes the file that an earlier import left.
func (a *app) newRejects(imported string, csv bool) (*rejects, error) {
	format := formatLines
	if csv {
		format = formatCSV
	}
	r := &rejects{path: imported + ".rejected." + format}
	r.at = a.Path(r.path)
	if err := os.Remove(r.at); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, cli.Fail(cli.ExitFailed, "rejects_stale", fmt.Sprintf("%s of an earlier import can't be removed (%v); remove it yourself", r.path, fault.FileReason(err)))
	}
	return r, nil
}

// add copies a line, unless it was too long to be kept.
func (r *rejects) add(line []byte) {
	if line == nil {
		return
	}
	if r.file == nil && r.failed == nil {
		r.file, r.failed = os.OpenFile(r.at, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // lines may hold keys
	}
	if r.failed == nil {
		_, r.failed = fmt.Fprintf(r.file, "%s\n", line)
	}
}

func (r *rejects) close() {
	if r.file != nil {
		r.failed = errors.Join(r.failed, r.file.Close())
	}
}

// location returns where the bad lines are.
func (r *rejects) location() string {
	if r.failed != nil {
		return fmt.Sprintf("they are printed above, and could not be copied to %s (%v)", r.path, fault.FileReason(r.failed))
	}
	return "they are in " + r.path
}

func newExport(a *app) *cobra.Command {
	var withKeys bool
	c := on(a.withStore, &cobra.Command{
		Use: "export", Short: "Write the whole store to stdout, in the format of import", Args: cli.Args(),
		Example: "  countersign store export > store.jsonl",
	}, func(ctx context.Context, s *store.Store, _ []string) error {
		if withKeys {
			a.Warn("the export holds the values of all keys; keep it where only you can read it")
		}
		return s.Transfer.Export(ctx, operator(), a.Lines(true), withKeys)
	})
	c.Flags().BoolVar(&withKeys, "with-keys", false, "include the values of the keys; without them, an import creates new ones")
	return c
}

// progressEvery is how often a line says how far something is, where no bar can be drawn.
const progressEvery = 5 * time.Second

// progress shows how far something is: a bar on a terminal, else line is called now and then.
type progress struct {
	app     *app
	line    func(percent, total int64)
	options []progressbar.Option
	bar     *progressbar.ProgressBar // nil where none can be drawn
	last    time.Time                // when line was last called
	lines   int
}

func (a *app) newProgress(what string, line func(percent, total int64), more ...progressbar.Option) *progress {
	return &progress{app: a, line: line, last: a.Now(), options: append(more, progressbar.OptionSetWriter(a.Err),
		progressbar.OptionSetDescription(what), progressbar.OptionSetWidth(30), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish())}
}

// tell is told how much is done.
func (p *progress) tell(done, total int64) {
	switch now := p.app.Now(); {
	case p.app.Err.IsTerminal() && !p.app.Plain() && !p.app.Quiet:
		if p.bar == nil {
			p.bar = progressbar.NewOptions64(max(total, 1), p.options...)
		}
		_ = p.bar.Set64(done)
	case now.Sub(p.last) >= progressEvery && done < total:
		p.line(done*100/total, total)
		p.last = now
		p.lines++
	}
}

// clear takes the bar away, so that a line can be printed in its place.
func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

// readingProgress shows how much of an imported file was read, in bytes. The writing follows, so the bar never reaches its
// end, at which it would vanish.
func (a *app) readingProgress(size int64) (p *progress, read func(bytes int64)) {
	p = a.newProgress("reading", func(percent, total int64) { a.Say("read %d %% of %s bytes", percent, cli.Thousands(total)) }, progressbar.OptionShowBytes(true))
	return p, func(bytes int64) {
		switch {
		case bytes < size:
			p.tell(bytes, size)
		case p.bar != nil:
			p.bar.Describe("writing")
		case p.lines > 0:
			a.Say("read all, writing")
		}
	}
}

package main

import (
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/transfer"
	"github.com/spf13/cobra"
)

// The formats and the encoding of an imported file.
const (
	encodingWindows1252 = "windows-1252"
	formatCSV           = "csv"
	formatLines         = "jsonl"
)

// importFlags are what the flags of an import say.
type importFlags struct {
	o      transfer.ImportOptions
	format string
	csv    transfer.CSVOptions
	maps   []string
	sets   []string
	states []string
	items  []string
	dates  string
	latin  string // the encoding
}

func (f *importFlags) register(a *app, c *cobra.Command) {
	c.Flags().BoolVar(&f.o.DryRun, "dry-run", false, "write nothing, only print what would happen")
	c.Flags().BoolVar(&f.o.SkipBad, "skip-bad", false, "write the valid lines even if others are not valid")
	cli.ChoiceVar(c, &f.format, "format", "", "csv or jsonl (default: by the end of the name or the first line)", formatCSV, formatLines)
	a.workspaceFlag(c, &f.csv.Workspace, "`username` of the workspace that the rows of CSV belong to (default: the only one)")
	c.Flags().StringSliceVar(&f.maps, "map", nil, "the field of a column of CSV, `Column=field`; Column= ignores it (repeatable, or with commas)")
	cli.ChoiceVar(c, &f.dates, "dates", "", "whether day or month is first in dates of CSV like 04/05/2024 (default: by the rows that show it)", string(transfer.DatesDayFirst), string(transfer.DatesMonthFirst))
	cli.ChoiceVar(c, &f.latin, "encoding", "", "the encoding of CSV from an older Windows program (default: UTF-8, -16 or -32)", encodingWindows1252)
	c.Flags().StringArrayVar(&f.states, "state", nil, "what a word in the column of states means, `Word=state`: active, refunded, charged_back, revoked, or skip (repeatable)")
	c.Flags().StringArrayVar(&f.items, "item", nil, "which item a name or an id of another shop means, `Name=id` (repeatable)")
	c.Flags().BoolVar(&f.csv.Split, "split", false, "split a row of CSV with several purchase codes into purchases that share its price")
	c.Flags().BoolVar(&f.csv.IgnoreOthers, "ignore-others", false, "ignore all columns of CSV that are not known")
	c.Flags().BoolVar(&f.csv.IgnoreStates, "ignore-states", false, "ignore also columns of CSV that may say that a sale was refunded, disputed or ended")
	c.Flags().BoolVar(&f.csv.Cents, "cents", false, "amounts of CSV are in cents: 4900 is 49.00")
	c.Flags().StringArrayVar(&f.sets, "set", nil, "the value of a field for all rows of CSV, `field=value` (repeatable)")
}

// parse reads the pairs of --map and --set.
func (f *importFlags) parse(c *cobra.Command, _ []string) (err error) {
	if f.csv.Map, err = pairs(c, "--map", "Column=field", f.maps); err == nil {
		f.csv.Set, err = pairs(c, "--set", "field=value", f.sets)
	}
	if err != nil {
		return err
	}
	states, err := pairs(c, "--state", "Word=state", f.states)
	f.csv.States = make(map[string]store.State, len(states))
	for word, state := range states {
		f.csv.States[word] = store.State(state)
	}
	if err == nil {
		err = f.parseItems(c)
	}
	f.csv.Dates = transfer.DateOrder(f.dates)
	if f.latin == encodingWindows1252 {
		f.csv.Encoding = transfer.EncodingWindows1252
	}
	return err
}

func (f *importFlags) parseItems(c *cobra.Command) error {
	items, err := pairs(c, "--item", "Name=id", f.items)
	f.csv.Items = make(map[string]int64, len(items))
	for name, text := range items {
		id, notNumber := strconv.ParseInt(text, 10, 64)
		if notNumber != nil {
			return cli.Usage(c, "--item is written Name=id, and the id is a number")
		}
		f.csv.Items[name] = id
	}
	return err
}

// pairs reads texts like name=value.
func pairs(c *cobra.Command, flag, form string, texts []string) (map[string]string, error) {
	all := map[string]string{}
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" && flag != "--state" {
			return nil, cli.Usage(c, flag+" is written "+form)
		}
		all[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return all, nil
}

// options are those of the import of a file, which is CSV or not.
func (f *importFlags) options(file io.ReadSeeker, name string) (o transfer.ImportOptions, err error) {
	o = f.o
	o.File = filepath.Base(name)
	isCSV := f.format == formatCSV
	if f.format == "" {
		if isCSV, err = transfer.IsCSV(file, name); err != nil {
			return o, err
		}
	}
	switch {
	case isCSV:
		o.CSV = &f.csv
	case len(f.csv.Map)+len(f.csv.Set)+len(f.csv.States)+len(f.csv.Items) > 0 || f.csv.Split || f.csv.Workspace != "" || f.csv.Dates != "" || f.csv.Encoding != "" || f.csv.Cents || f.csv.IgnoreOthers || f.csv.IgnoreStates:
		return o, cli.Fail(cli.ExitUsage, "usage", "--map, --set, --state, --item, --split, --workspace, --dates, --encoding, --cents, --ignore-others and --ignore-states are for CSV, and this file is read as JSON Lines; say --format csv if it is CSV")
	}
	return o, nil
}

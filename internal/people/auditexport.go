package people

import (
	"context"
	"encoding/csv"
	"io"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/spreadsheet"
)

// AuditFormat is a form in which the audit log can be taken along.
type AuditFormat string

// The formats of an export.
const (
	// AuditCSV is for spreadsheets: a header, then a line each. An apostrophe
	// stands before whatever a spreadsheet would take for a formula.
	AuditCSV AuditFormat = "csv"
	// AuditJSONL is for programs: an [AuditRow] a line.
	AuditJSONL AuditFormat = "jsonl"
)

// AuditRow is a line of the audit log as an export has it.
type AuditRow struct {
	ID       int64                 `json:"id"`
	At       countersign.Timestamp `json:"at"`
	Kind     string                `json:"kind"`
	Actor    string                `json:"actor"`
	FrontEnd string                `json:"face"`
	Address  string                `json:"address"`
	Action   string                `json:"action"`
	// Workspace is nil in a log whose entries are not about workspaces.
	Workspace *string `json:"workspace,omitempty"`
	Subject   string  `json:"subject"`
	Detail    string  `json:"detail"`
	Before    string  `json:"before"`
	After     string  `json:"after"`
}

// Row is the line for an export. withWorkspace says that its log has entries about workspaces.
func (l AuditLine) Row(withWorkspace bool) AuditRow {
	var workspace *string
	if withWorkspace {
		workspace = &l.Workspace
	}
	return AuditRow{l.ID, countersign.At(l.At), string(l.Kind), l.Actor, string(l.FrontEnd), l.Address, string(l.Action), workspace, l.Subject, l.Detail, l.Before, l.After}
}

// cells are a line of CSV, in the order of the header.
func (r AuditRow) cells() []string {
	cells := []string{strconv.FormatInt(r.ID, 10), r.At.String(), r.Kind, r.Actor, r.FrontEnd, r.Address, r.Action}
	if r.Workspace != nil {
		cells = append(cells, *r.Workspace)
	}
	return append(cells, r.Subject, r.Detail, r.Before, r.After)
}

func (g *AuditLog) header() []string {
	columns := []string{"id", "at", "kind", "actor", "face", "address", "action"}
	if g.workspaces {
		columns = append(columns, "workspace")
	}
	return append(columns, "subject", "detail", "before", "after")
}

// ExportAudit writes all lines that a filter wants to out, newest first, a batch
// at a time; the filter's Limit counts for nothing. Nothing is written when the
// first batch can't be read.
func (g *AuditLog) ExportAudit(ctx context.Context, a Actor, f AuditFilter, format AuditFormat, out io.Writer) error {
	write := g.writeJSONL
	table := csv.NewWriter(out)
	if format == AuditCSV {
		write = func(_ io.Writer, batch []AuditLine) error { return g.writeCSV(table, batch) }
		if err := table.Write(g.header()); err != nil {
			return err
		}
	}
	f.Limit = maxAuditLimit
	for {
		batch, err := g.Audit(ctx, a, f)
		if err != nil {
			return err
		}
		if err := write(out, batch); err != nil {
			return err
		}
		if len(batch) < maxAuditLimit {
			return nil
		}
		f.Before = batch[len(batch)-1].ID
	}
}

func (g *AuditLog) writeJSONL(out io.Writer, batch []AuditLine) error {
	var lines []byte
	for _, l := range batch {
		var err error
		if lines, err = countersign.AppendJSON(lines, l.Row(g.workspaces)); err != nil {
			return err
		}
		lines = append(lines, '\n')
	}
	_, err := out.Write(lines)
	return err
}

func (g *AuditLog) writeCSV(table *csv.Writer, batch []AuditLine) error {
	for _, l := range batch {
		if err := table.Write(spreadsheet.Row(l.Row(g.workspaces).cells())); err != nil {
			return err
		}
	}
	table.Flush()
	return table.Error()
}

package transfer

import (
	"errors"
	"fmt"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/storedb"
)

// errReportFirst rolls an import back whose rejected lines must be reported before it writes.
var errReportFirst = errors.New("store: lines were rejected late")

// errNotWritten rolls an import back that must not write.
var errNotWritten = errors.New("store: nothing was written")

// importer is one import under way. Workspaces and keys are few and wait in
// memory, items and purchases wait in the stage.
type importer struct {
	service *Service
	actor   people.Actor
	options ImportOptions
	session *storedb.DB
	stage   *storedb.Stage
	report  ImportReport

	csv           *csvPlan
	others        bool            // lines of other types than items and purchases
	split         int             // how many purchases the rows have beyond one each
	skipped       []Skipped       // as in report, without rows that wait for another
	headerWritten bool            // of the rejected rows
	keep          map[string]bool // columns of purchases that the file does not have

	workspaces     []numbered[workspaceLine]
	keys           []numbered[keyLine]
	licenseKeys    []numbered[licensing.Key]
	workspaceKnown map[string]bool
	owners         map[int64]string // item id → its workspace's username
	bad            map[int]string   // lines found bad after they were staged
	reported       map[int]bool     // which of them were reported
	// repeated counts the lines that say what an earlier one says.
	repeated struct{ items, purchases, licenses int64 }
}

type numbered[T any] struct {
	line  int
	value T
}

// ImportOptions configures an import.
type ImportOptions struct {
	// File is the name of the file, for people. It may be "".
	File string
	// Workspace is the username of the one workspace whose items and purchases are read; lines
	// of other types and workspaces are bad. "" is all of the store, for administrators.
	Workspace string
	// DryRun writes nothing.
	DryRun bool
	// SkipBad writes the good lines although there are bad ones.
	SkipBad bool
	// CSV says how to read CSV; nil for a file of JSON Lines.
	CSV *CSVOptions
	// Bad is notified of every bad line: its number, why, and its text, nil when it is
	// too long to be kept. The text of a row of CSV has the reason in a column of its own,
	// and that of the first one has the header before it.
	Bad func(line int, reason string, raw []byte)
	// Progress is told now and then how many bytes were read.
	Progress func(bytes int64)
	// job is the job that does the import, nil for none.
	job *runningImport
	// mostAhead is how many sales may be taken back by rows of their own, and how many orders may be in a file
	// whose orders have several rows: 0 is the usual number of each.
	mostAhead int
	// sampleOf is the id of the workspace whose sample data is imported, 0 for another import.
	sampleOf int64
}

// ImportReport describes what an import did, or would have done.
type ImportReport struct {
	// Lines counts those that are not empty: each is new, changed, unchanged, repeated, skipped or bad.
	Lines int `json:"lines"`
	// Split is how many purchases rows with several codes have beyond one each.
	Split   int  `json:"split,omitempty"`
	Bad     int  `json:"bad"`
	Written bool `json:"written"`
	// ID names the import for [Service.Undo]. It is 0 for one that can't be undone, or has
	// nothing to undo.
	ID         int64 `json:"id,omitempty"`
	Workspaces Moved `json:"workspaces"`
	Keys       Moved `json:"keys"`
	Items      Moved `json:"items"`
	Purchases  Moved `json:"purchases"`
	// LicenseKeys are public keys: what signs is never in a file.
	LicenseKeys Moved `json:"license_keys"`
	Licenses    Moved `json:"licenses"`
	// WeakCodes and WeakKeys are purchase codes under 80 bits and keys of another shop
	// under 128 bits, by their length and characters: they are easy to guess.
	WeakCodes Weak `json:"weak_codes,omitzero"`
	WeakKeys  Weak `json:"weak_keys,omitzero"`
	// Skipped are rows of CSV that were left out: neither bad nor imported.
	Skipped []Skipped `json:"skipped,omitempty"`
	// Kept are rows of CSV whose sale is good, while the store has its code as refunded, charged back or
	// revoked: that stays.
	Kept Found `json:"kept,omitzero"`
	// NoPrice are rows of CSV without a price: their order has several rows and one total.
	NoPrice Found `json:"no_price,omitzero"`
	// RepeatedRefunds are rows of refunds without an id of their own that are like those of earlier imports, and
	// were taken for the same.
	RepeatedRefunds Found `json:"repeated_refunds,omitzero"`
	// CSV describes how a file of CSV was read.
	CSV *CSVReport `json:"csv,omitempty"`
	// NoPicture counts items without a thumbnail or a preview image.
	NoPicture Found `json:"items_without_picture,omitzero"`
}

// describe counts what became of the rows, for the audit log. Commands print few characters of it.
func (r ImportReport) describe() string {
	var all Moved
	for _, m := range []Moved{r.Workspaces, r.Keys, r.Items, r.Purchases, r.LicenseKeys, r.Licenses} {
		all.New, all.Changed = all.New+m.New, all.Changed+m.Changed
	}
	return fmt.Sprintf("created %d, updated %d, rejected %d", all.New, all.Changed, r.Bad)
}

// Moved counts what an import did with lines of one type.
type Moved = storedb.Moved

package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Import reads JSON Lines, or CSV, and writes them in one transaction: all of them, or
// with SkipBad the good ones. Lines are staged first, in tables that no other
// process sees and that lock nothing. The same file twice changes nothing.
func (s *Service) Import(ctx context.Context, a people.Actor, file io.ReadSeeker, o ImportOptions) (ImportReport, error) {
	imp := &importer{service: s, actor: a, options: o, bad: map[int]string{}, owners: map[int64]string{}, workspaceKnown: map[string]bool{}, reported: map[int]bool{}}
	if err := imp.mayImport(ctx, s.db); err != nil {
		return ImportReport{}, err
	}
	err := s.db.Session(ctx, func(session *storedb.DB) error {
		imp.session = session
		if err := imp.stageAll(ctx, file); err != nil {
			return err
		}
		if imp.options.job != nil {
			imp.options.job.reportRead(ctx, imp.report)
		}
		err := errReportFirst
		for errors.Is(err, errReportFirst) {
			err = session.Tx(ctx, func(tx *storedb.DB) error { return imp.insert(ctx, tx) })
			if err != nil && !errors.Is(err, errNotWritten) && !errors.Is(err, errReportFirst) {
				return err
			}
			if err := imp.reportLate(file); err != nil {
				return err
			}
		}
		imp.report.Written = err == nil
		return nil
	})
	return imp.report, err
}

func (imp *importer) stageAll(ctx context.Context, file io.ReadSeeker) error {
	var err error
	if imp.stage, err = imp.session.NewStage(ctx); err != nil {
		return err
	}
	if imp.options.CSV != nil {
		return imp.stageCSV(ctx, file)
	}
	lines := newLineReader(file)
	for lines.next() {
		if lines.number%1000 == 0 {
			if err := imp.progress(ctx, lines.bytes.n); err != nil {
				return err
			}
		}
		if len(lines.text) == 0 {
			continue
		}
		imp.report.Lines++
		text := lines.text
		err := lines.tooLong()
		if err == nil {
			err = imp.stageLine(ctx, lines.number, text)
		} else {
			text = nil
		}
		if shadow := imp.shadowLine(ctx, lines.number, text, err); shadow != nil {
			return shadow
		}
		if err = imp.reject(lines.number, err, text); err != nil {
			return err
		}
	}
	if lines.err != nil {
		return fmt.Errorf("store: import: line %d: %w", lines.number, lines.err)
	}
	if err := imp.progress(ctx, lines.bytes.n); err != nil {
		return err
	}
	return imp.stage.Flush(ctx, imp.session)
}

// progress reports how far the reading is. The error is the cause when ctx has ended.
func (imp *importer) progress(ctx context.Context, bytes int64) error {
	if imp.options.Progress != nil {
		imp.options.Progress(bytes)
	}
	if imp.options.job != nil {
		imp.options.job.report(bytes, imp.report)
	}
	return context.Cause(ctx)
}

// reject reports a line that is bad and passes errors on that are not a line's.
func (imp *importer) reject(line int, err error, raw []byte) error {
	var bad *badLine
	if !errors.As(err, &bad) {
		return err
	}
	imp.report.Bad++
	if imp.options.Bad != nil {
		imp.options.Bad(line, bad.Error(), raw)
	}
	return nil
}

func (imp *importer) stageLine(ctx context.Context, line int, raw []byte) error {
	kind, err := lineType(raw)
	if err != nil {
		return bad(err)
	}
	other := kind != "item" && kind != "purchase"
	if other && imp.options.Workspace != "" {
		return badf("a line of the type %q; an import into a workspace has the types item and purchase", kind)
	}
	imp.others = imp.others || other
	switch kind {
	case "workspace":
		return imp.stageWorkspace(line, raw)
	case "key":
		return imp.stageKey(ctx, line, raw)
	case "item":
		var l itemLine
		if err := decodeLine(raw, &l); err != nil {
			return bad(err)
		}
		return imp.stageItem(ctx, line, l, nil)
	case "purchase":
		var l purchaseLine
		if err := decodeLine(raw, &l); err != nil {
			return bad(err)
		}
		return imp.stagePurchase(ctx, line, l)
	case "license_key":
		return imp.stageLicenseKey(line, raw)
	case "license":
		return imp.stageLicense(ctx, line, raw)
	}
	return badf("unknown type %q; it is %s", kind, lineTypes)
}

func (imp *importer) stageWorkspace(line int, raw []byte) error {
	var l workspaceLine
	if err := decodeLine(raw, &l); err != nil {
		return bad(err)
	}
	if err := rules.CheckWorkspace(l.workspace()); err != nil {
		return bad(err)
	}
	imp.workspaces = append(imp.workspaces, numbered[workspaceLine]{line, l})
	imp.workspaceKnown[l.Username] = true
	return nil
}

func (imp *importer) stageKey(ctx context.Context, line int, raw []byte) error {
	var l keyLine
	if err := decodeLine(raw, &l); err != nil {
		return bad(err)
	}
	l.Key, l.PreviousKey = strings.TrimSpace(l.Key), strings.TrimSpace(l.PreviousKey)
	if err := checkKeyLine(l); err != nil {
		return bad(err)
	}
	if err := imp.knowWorkspace(ctx, l.Workspace); err != nil {
		return err
	}
	if l.Key != "" && !rules.IsOurs(l.Key) {
		imp.report.WeakKeys.Note(ShapeBits(l.Key), SafeKeyBits, line)
	}
	imp.keys = append(imp.keys, numbered[keyLine]{line, l})
	return nil
}

// stageItem stages the item of a line; was is as for [storedb.Stage.AddItem].
func (imp *importer) stageItem(ctx context.Context, line int, l itemLine, was *string) error {
	item := l.item()
	if err := rules.CheckItem(item); err != nil {
		return bad(err)
	}
	rule := l.Licensing.licensing()
	if err := licensing.CheckRule(rule); err != nil {
		return bad(err)
	}
	if err := imp.knowWorkspace(ctx, l.Workspace); err != nil {
		return err
	}
	owner, err := imp.ownerOf(ctx, item.ID)
	if err != nil {
		return err
	}
	if owner != "" && owner != l.Workspace {
		return badf("item %d already exists: ids are unique in the store", item.ID)
	}
	if err := rules.CheckNewID(item.ID); err != nil && owner == "" && !imp.mayBeExport() {
		return bad(err)
	}
	imp.owners[item.ID] = l.Workspace
	if rules.LacksPicture(item) {
		imp.report.NoPicture.note(line)
	}
	if err := rules.RenderItem(&item); err != nil {
		return err
	}
	return imp.stage.AddItem(ctx, line, l.Workspace, item, rule, was)
}

// mayBeExport reports whether the file may be the export of a store, which may have ids from
// before they had a limit.
func (imp *importer) mayBeExport() bool { return imp.options.Workspace == "" && imp.csv == nil }

func (imp *importer) stagePurchase(ctx context.Context, line int, l purchaseLine) error {
	p, err := imp.checkPurchase(ctx, l)
	if err != nil {
		return err
	}
	return imp.addPurchase(ctx, line, 0, l, p)
}

// checkPurchase is the purchase of a line, which can be staged.
func (imp *importer) checkPurchase(ctx context.Context, l purchaseLine) (storedb.Purchase, error) {
	p := l.purchase()
	if err := rules.CheckPurchase(&p); err != nil {
		return p, bad(err)
	}
	if err := imp.knowWorkspace(ctx, l.Workspace); err != nil {
		return p, err
	}
	owner, err := imp.ownerOf(ctx, p.ItemID)
	switch {
	case err != nil:
		return p, err
	case owner == l.Workspace:
		return p, nil
	case imp.csv != nil:
		return p, badf("the workspace %s has no item %d", l.Workspace, p.ItemID)
	}
	return p, badf("the workspace %s has no item %d; its line must come before its purchases", l.Workspace, p.ItemID)
}

// addPurchase stages a purchase of a line, which may have several.
func (imp *importer) addPurchase(ctx context.Context, line, part int, l purchaseLine, p storedb.Purchase) error {
	imp.report.WeakCodes.Note(CodeBits(p.Code), SafeCodeBits, line)
	p.Digest = rules.CodeDigest(imp.service.gate.Box(), p.Code)
	return imp.stage.AddPurchase(ctx, line, part, l.Workspace, p, max(l.sold.refund, -l.sold.refund))
}

// knowWorkspace makes sure that a workspace is in the store or in an earlier line.
func (imp *importer) knowWorkspace(ctx context.Context, username string) error {
	if only := imp.options.Workspace; only != "" && username != only {
		return badf("the line is of the workspace %q; this import is into %s", username, only)
	}
	if imp.workspaceKnown[username] {
		return nil
	}
	_, err := imp.session.Workspace(ctx, username)
	if errors.Is(err, sqldb.ErrNotFound) {
		return badf("unknown workspace %q; its line must come before", username)
	}
	imp.workspaceKnown[username] = err == nil
	return err
}

// ownerOf returns the workspace that has an item, in the store or in an earlier line;
// "" when none has.
func (imp *importer) ownerOf(ctx context.Context, item int64) (string, error) {
	if owner, ok := imp.owners[item]; ok {
		return owner, nil
	}
	id, err := imp.session.ItemWorkspace(ctx, item)
	if errors.Is(err, sqldb.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	w, err := imp.session.WorkspaceByID(ctx, id)
	if err != nil {
		return "", err
	}
	imp.owners[item] = w.Account.Username
	return w.Account.Username, nil
}

// reportLate reports the lines that were found bad when all were known, with
// their texts from a second reading.
func (imp *importer) reportLate(file io.ReadSeeker) error {
	var late []int
	for line := range imp.bad {
		if !imp.reported[line] {
			imp.reported[line] = true
			late = append(late, line)
		}
	}
	if len(late) == 0 {
		return nil
	}
	slices.Sort(late)
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("store: import: the file can't be read a second time: %w", err)
	}
	if imp.options.CSV != nil {
		return imp.reportLateRows(file, late)
	}
	lines := newLineReader(file)
	for len(late) > 0 && lines.next() {
		if lines.number == late[0] {
			_ = imp.reject(lines.number, badf("%s", imp.bad[late[0]]), lines.text)
			late = late[1:]
		}
	}
	return lines.err
}

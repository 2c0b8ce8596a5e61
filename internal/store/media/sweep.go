package media

import (
	"context"
	"regexp"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

// unusedTime is how long a file stays after the last reference to it was removed: apps may still
// show its address, and an import that replaced it can be undone for a day.
const unusedTime = 24 * time.Hour

var mediaAddress = regexp.MustCompile(regexp.QuoteMeta(rules.MediaPath) + `(` + rules.MediaName + `)`)

// sweptAtOnce is how many files one transaction of a sweep is about at most.
const sweptAtOnce = 100

// change is what a sweep notes about a file: since when nothing refers to it, zero for one that is used.
type change struct {
	UploadedFile
	before, since countersign.Timestamp
}

// gone reports that the file is to be removed. The new time makes it the sweep's own: an upload
// can't complete any more, and no other server removes it.
func (c change) gone() bool { return !c.before.IsZero() && !c.since.IsZero() }

// Sweep removes files that nothing has referred to for a day, also those of uploads that a
// killed process did not complete. Other files of the bucket are left alone.
func (s *Service) Sweep(ctx context.Context) error {
	var all []change
	err := s.db.Snapshot(ctx, func(tx *storedb.DB) (err error) {
		all, err = s.changes(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	for some := range slices.Chunk(all, sweptAtOnce) {
		gone, err := s.note(ctx, some)
		if err != nil {
			return err
		}
		for _, m := range gone {
			if err := s.remove(ctx, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// changes lists what has to be noted about files.
func (s *Service) changes(ctx context.Context, tx *storedb.DB) (list []change, err error) {
	used := map[string]bool{}
	err = tx.EachMediaText(ctx, func(text string) error {
		for _, found := range mediaAddress.FindAllStringSubmatch(text, -1) {
			used[found[1]] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = tx.EachUploadedFile(ctx, func(m UploadedFile, since countersign.Timestamp) error {
		switch isUsed := used[m.Name] || m.ItemID != 0; {
		case isUsed && !since.IsZero():
			list = append(list, change{UploadedFile: m, before: since})
		case !isUsed && (since.IsZero() || s.now().Sub(since.Time) >= unusedTime):
			list = append(list, change{UploadedFile: m, before: since, since: s.timestamp()})
		}
		return nil
	})
	return list, err
}

// note writes changes, and returns the files to be removed. It leaves out what others changed meanwhile.
func (s *Service) note(ctx context.Context, list []change) (gone []UploadedFile, err error) {
	err = s.db.Tx(ctx, func(tx *storedb.DB) error {
		gone = nil
		for _, c := range list {
			noted, err := tx.SetUploadedFileUnused(ctx, c.Name, c.before, c.since)
			if err != nil {
				return err
			}
			if noted && c.gone() {
				gone = append(gone, c.UploadedFile)
			}
		}
		return nil
	})
	return gone, err
}

package media

import (
	"context"
	"regexp"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

// unusedTime is how long a file stays after the last reference to it was removed: apps may still
// show its address, and an import that replaced it can be undone for a day.
const unusedTime = 24 * time.Hour

var mediaAddress = regexp.MustCompile(regexp.QuoteMeta(rules.MediaPath) + `(` + rules.MediaName + `)`)

// Sweep removes files that nothing has referred to for a day, also those of uploads that a
// killed process did not complete. Other files of the bucket are left alone.
func (s *Service) Sweep(ctx context.Context) error {
	var unused []Medium
	err := s.db.Tx(ctx, func(tx *storedb.DB) (err error) {
		unused, err = s.unused(ctx, tx)
		return err
	})
	for _, m := range unused {
		if err == nil {
			err = s.remove(ctx, m)
		}
	}
	return err
}

// unused returns the files that nothing has referred to for a day, and notes which others are
// not used.
func (s *Service) unused(ctx context.Context, tx *storedb.DB) (gone []Medium, err error) {
	used := map[string]bool{}
	err = tx.EachMediumUse(ctx, func(text string) error {
		for _, found := range mediaAddress.FindAllStringSubmatch(text, -1) {
			used[found[1]] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	noted := map[string]countersign.Timestamp{} // by name, what is to be noted
	err = tx.EachMedium(ctx, func(m Medium, since countersign.Timestamp) error {
		switch isUsed := used[m.Name] || m.ItemID != 0; {
		case isUsed && !since.IsZero():
			noted[m.Name] = countersign.Timestamp{}
		case !isUsed && since.IsZero():
			noted[m.Name] = s.timestamp()
		case !isUsed && s.now().Sub(since.Time) >= unusedTime:
			gone = append(gone, m)
		}
		return nil
	})
	for name, since := range noted {
		if err == nil {
			err = tx.SetMediumUnused(ctx, name, since)
		}
	}
	return gone, err
}

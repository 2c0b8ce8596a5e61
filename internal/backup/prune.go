package backup

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/sqldb"
)

// Keep says which backups stay when old ones are removed. The zero value keeps all.
type Keep struct {
	// Count is how many of the newest stay, 0 for any number.
	Count int `json:"count"`
	// Age is up to which age others stay, too; 0 for any age if Count is 0.
	Age time.Duration `json:"age"`
}

// all reports whether nothing is removed.
func (k Keep) all() bool { return k.Count <= 0 && k.Age <= 0 }

// own lists the backups in a place that belong to the key file of the database and are not later than
// now. Others in it may be those of another store, or were named by a clock that was ahead: they would
// count as the newest for as long as that was.
func (k *Keeper) own(ctx context.Context, in Destination) ([]File, error) {
	name, now := keyfile.KeyName(k.Box().Check()), k.Service.Now()
	list, err := k.Service.List(ctx, in)
	return slices.DeleteFunc(list, func(f File) bool { return f.Key != name || f.CreatedAt.After(now) }), err
}

// remove removes backups from a list of those in a place, the newest first, and returns them: those
// that are neither among the newest nor young enough. The newest always stays, and so do those
// that spared names as records do.
func (s *Service) remove(ctx context.Context, in Destination, list []File, keep Keep, spared []string) (removed []File, err error) {
	for i, f := range list {
		if err != nil || i < max(keep.Count, 1) || s.Now().Sub(f.CreatedAt) < keep.Age || slices.Contains(spared, in.recordedName(f)) {
			continue
		}
		if in.Bucket != nil {
			err = in.Bucket.Delete(ctx, f.Path)
		} else if err = os.Remove(f.Path); err != nil {
			err = folderError(s.folder(in), err)
		}
		if err == nil {
			removed = append(removed, f)
		}
	}
	return removed, err
}

// prune removes old backups of the database from a place, and their records. It spares the newest
// one that was verified, and the newest of these that lacks no uploaded file.
func (k *Keeper) prune(ctx context.Context, in Destination, keep Keep) ([]File, error) {
	if keep.all() {
		return nil, nil
	}
	list, err := k.own(ctx, in)
	if err != nil {
		return nil, err
	}
	spared, err := k.newestVerified(ctx, in, list)
	if err != nil {
		return nil, err
	}
	removed, err := k.Service.remove(ctx, in, list, keep, spared)
	if len(removed) == 0 {
		return nil, err
	}
	names := sqldb.Convert(removed, in.recordedName)
	forgotten := k.write(ctx, func(tx sqldb.Queries) error {
		return changeVerifications(ctx, tx, func(list []Verification) []Verification {
			return slices.DeleteFunc(list, func(v Verification) bool { return slices.Contains(names, v.File) })
		})
	})
	if err == nil {
		err = forgotten
	}
	return removed, err
}

// newestVerified names the newest backup in a list that was verified and is whole, and the newest of
// these that lacks no uploaded file.
func (k *Keeper) newestVerified(ctx context.Context, in Destination, there []File) (names []string, err error) {
	records, err := Verifications(ctx, k.DB.Queries())
	for _, v := range records {
		if !v.whole() || !slices.ContainsFunc(there, func(f File) bool { return in.recordedName(f) == v.File }) {
			continue
		}
		if len(names) == 0 || v.Lacks == "" {
			names = append(names, v.File)
		}
		if v.Lacks == "" {
			break
		}
	}
	return names, err
}

package backup

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/blob"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/sqldb"
)

// Verification is the record of a backup that was restored into a temporary database.
type Verification struct {
	// File is its path, or the bucket and its name there.
	File string `json:"file"`
	// CreatedAt is the time of its content.
	CreatedAt  time.Time `json:"created_at"`
	VerifiedAt time.Time `json:"verified_at"`
	Rows       int64     `json:"rows"`
	// Problem is what is wrong with it, "" for a whole backup.
	Problem string `json:"problem,omitempty"`
	// Lacks names uploaded files that it does not have, "" for none.
	Lacks string `json:"lacks,omitempty"`
}

// whole reports whether the backup was verified and has no problem. The zero value was not verified.
func (v Verification) whole() bool { return !v.VerifiedAt.IsZero() && v.Problem == "" }

// maxVerifications is how many records are kept: those of the newest backups.
const maxVerifications = 100

// metaVerifications is the name under which a database keeps its records.
const metaVerifications = "verified_backups"

// verificationOf is the record of a verification at a time, which ended with an error or nil.
func verificationOf(file string, info Info, err error, now time.Time) Verification {
	v := Verification{File: file, CreatedAt: info.Header.CreatedAt.UTC(), VerifiedAt: now.UTC().Truncate(time.Second), Rows: info.Rows()}
	if v.CreatedAt.After(v.VerifiedAt) { // a false time would hide for long that no newer backup is verified
		v.CreatedAt = v.VerifiedAt
	}
	if len(info.Lacks) > 0 {
		v.Lacks = blob.LacksText(info.Lacks)
	}
	if err != nil {
		v.Problem = "It could not be verified"
		if apiErr := fault.Of(err); apiErr != nil {
			v.Problem = apiErr.Message
		}
	}
	return v
}

// recordedName names a backup in records: by its absolute path, or by its bucket and its name there.
func (s Source) recordedName() string {
	if s.Bucket != nil {
		return s.Bucket.String() + "/" + s.File
	}
	path, err := filepath.Abs(s.File)
	if err != nil {
		return s.File
	}
	return path
}

// Verifications reads the records of verified backups, the newest backup first.
func Verifications(ctx context.Context, q sqldb.Queries) (list []Verification, err error) {
	err = readMeta(ctx, q.Meta, metaVerifications, &list)
	return list, err
}

// LastVerified returns the record of the newest backup that was verified up to now and is whole, the
// zero value without any. A later record is from a time when the clock was wrong.
func LastVerified(ctx context.Context, q sqldb.Queries, now time.Time) (Verification, error) {
	list, err := Verifications(ctx, q)
	for _, v := range list {
		if v.whole() && !v.VerifiedAt.After(now) {
			return v, nil
		}
	}
	return Verification{}, err
}

// Recorded returns the record of a backup in a list, the zero value without one.
func Recorded(list []Verification, of Source) Verification {
	name := of.recordedName()
	i := slices.IndexFunc(list, func(v Verification) bool { return v.File == name })
	if i < 0 {
		return Verification{}
	}
	return list[i]
}

// addVerification writes a record in place of an earlier one of the same file.
func addVerification(ctx context.Context, tx sqldb.Queries, v Verification) error {
	return changeVerifications(ctx, tx, func(list []Verification) []Verification {
		list = append(without(list, v.File), v)
		slices.SortStableFunc(list, func(a, b Verification) int { return b.CreatedAt.Compare(a.CreatedAt) })
		return list[:min(len(list), maxVerifications)]
	})
}

// spoilVerification writes a problem into the record of a file, and reports whether there is one.
func spoilVerification(ctx context.Context, tx sqldb.Queries, v Verification) (found bool, err error) {
	err = changeVerifications(ctx, tx, func(list []Verification) []Verification {
		i := slices.IndexFunc(list, func(one Verification) bool { return one.File == v.File })
		if found = i >= 0; found {
			list[i].VerifiedAt, list[i].Problem = v.VerifiedAt, v.Problem
		}
		return list
	})
	return found, err
}

func without(list []Verification, file string) []Verification {
	return slices.DeleteFunc(list, func(v Verification) bool { return v.File == file })
}

func changeVerifications(ctx context.Context, tx sqldb.Queries, change func([]Verification) []Verification) error {
	var list []Verification
	if err := readMeta(ctx, lockedMeta(tx), metaVerifications, &list); err != nil {
		return err
	}
	return writeMeta(ctx, tx, metaVerifications, change(list))
}

// readMeta reads a value that is kept as JSON under a name. Without it, value stays as it is.
func readMeta(ctx context.Context, read func(context.Context, string) (string, error), name string, value any) error {
	text, err := read(ctx, name)
	if err != nil || text == "" {
		return err
	}
	if err := json.Unmarshal([]byte(text), value); err != nil {
		return fmt.Errorf("backup: read %s: %w", name, err)
	}
	return nil
}

// lockedMeta reads values and locks them, also those that are not there yet.
func lockedMeta(tx sqldb.Queries) func(context.Context, string) (string, error) {
	return func(ctx context.Context, name string) (string, error) {
		if _, err := tx.Exec(ctx, `INSERT INTO meta (name, value) VALUES ($1, '') ON CONFLICT (name) DO NOTHING`, name); err != nil {
			return "", err
		}
		return tx.LockMeta(ctx, name)
	}
}

func writeMeta(ctx context.Context, tx sqldb.Queries, name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("backup: write %s: %w", name, err)
	}
	return tx.SetMeta(ctx, name, string(text))
}

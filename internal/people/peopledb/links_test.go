package peopledb

import (
	"errors"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
)

func TestUseLink(t *testing.T) {
	token, unknown := Digest{1}, Digest{2}
	tests := []struct {
		rule    string
		purpose Purpose
		digest  Digest
		second  int // of the minute at whose second 10 the link expires
		used    bool
		good    bool
	}{
		{rule: "a good one is used", purpose: PurposeSetup, digest: token, second: 9, good: true},
		{rule: "one that was used is not", purpose: PurposeSetup, digest: token, second: 9, used: true},
		{rule: "one that has expired is not", purpose: PurposeSetup, digest: token, second: 10},
		{rule: "one for another purpose is not", purpose: PurposeSignIn, digest: token, second: 9},
		{rule: "an unknown one is not", purpose: PurposeSetup, digest: unknown, second: 9},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			dbtest.Engines(t, func(t *testing.T, place dbtest.DB) {
				d := opened(t, place)
				must.Do(t, d.AddLink(t.Context(), Link{Digest: token, Purpose: PurposeSetup, ExpiresAt: at(10)}))
				use := func(p Purpose, digest Digest, second int) (l Link, err error) {
					err = d.Tx(t.Context(), func(tx *DB) error {
						l, err = tx.UseLink(t.Context(), p, digest, at(second))
						return err
					})
					return l, err
				}
				if tt.used {
					must.Get(use(PurposeSetup, token, 1))(t)
				}
				l, err := use(tt.purpose, tt.digest, tt.second)
				if tt.good && (err != nil || l.UsedAt != at(tt.second)) {
					t.Errorf("%+v, %v", l, err)
				}
				if !tt.good && !errors.Is(err, sqldb.ErrNotFound) {
					t.Errorf("%v, want %v", err, sqldb.ErrNotFound)
				}
			})
		})
	}
}

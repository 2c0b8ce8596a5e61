package store

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/seal"
	"github.com/countersign/countersign/internal/vault"
)

// Doctor looks for what is wrong with the store. It writes nothing to the
// database and works without [Store.Prepare]; a check that fails is itself a
// finding.
func (s *Store) Doctor(ctx context.Context) []health.Finding {
	place := health.Place{Dir: s.options.Dir, KeyFile: filepath.Join(s.options.Dir, seal.FileName), Migrate: "countersign store migrate up", Now: s.now()}
	if s.options.KeyText != "" {
		place.KeyFile = ""
	}
	findings := health.Folder(place)
	tables, ok := health.Database(ctx, s.database, place)
	findings = append(findings, tables...)
	findings = append(findings, health.Backups(place, strings.TrimSuffix(DatabaseName, filepath.Ext(DatabaseName))))
	if !ok {
		return findings
	}
	return append(findings, s.checkKey(ctx), s.checkCodes(ctx), s.checkImportedKeys(ctx))
}

// checkKey tells whether the key file is the one that belongs to the database.
func (s *Store) checkKey(ctx context.Context) health.Finding {
	const name, why = "key", "Keys and purchases can't be read with another key file."
	check, err := s.db.Meta(ctx, vault.CheckName)
	if err != nil {
		return health.Of(name, err, why, "Check the database.")
	}
	if check == "" {
		return health.Finding{Name: name, Level: health.OK, What: "The database belongs to no key file yet"}
	}
	if _, err := s.vault.Open(ctx, s.db.Queries); err != nil {
		return health.Of(name, err, why, "Put the right key file back from a backup, or make a new one with: countersign store rekey")
	}
	return health.Finding{Name: name, Level: health.OK, What: "The key file belongs to the database"}
}

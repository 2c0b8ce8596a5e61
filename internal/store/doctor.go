package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/countersign/countersign/internal/blob"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/access"
)

// Doctor looks for what is wrong with the store. It writes nothing to the
// database and works without [Store.Prepare]; a check that fails is itself a
// finding.
func (s *Store) Doctor(ctx context.Context) []health.Finding { return s.examine(ctx, false) }

// examine is Doctor. A quick one reads no whole file and bounded samples, as a page needs it.
func (s *Store) examine(ctx context.Context, quick bool) []health.Finding {
	findings, at, ok := s.Instance.Examine(ctx, quick)
	if !ok {
		return findings
	}
	key, box := s.checkKey(ctx, at)
	findings = append(findings, key, s.checkCodes(ctx), s.checkImportedKeys(ctx), s.checkPictures(ctx), s.checkMedia(ctx, quick), s.checkSales(ctx, quick), s.checkItems(ctx, quick), s.checkAdministrator(ctx))
	if s.uploadQuota > 0 {
		findings = append(findings, s.checkQuota(ctx))
	}
	if err := s.Requests.Check(ctx, !quick); err != nil {
		findings = append(findings, health.Of("request log", err, "Requests are answered, but not logged, or can't be found in the log.",
			"For a damaged requests.db, stop the server and remove that file: the server creates a new one. Otherwise check the disk."))
	}
	if box == nil {
		return findings
	}
	findings = append(findings, health.UnusedKeyFile(s.Instance.Location, box)...)
	return append(findings, s.Instance.ExamineAudit(ctx, box))
}

// Health is a quick Doctor for the administrators of the store.
func (s *Store) Health(ctx context.Context, a people.Actor) ([]health.Finding, error) {
	if err := access.May(a, access.Administer); err != nil {
		return nil, err
	}
	return s.examine(ctx, true), nil
}

// checkKey reports whether the key file is the one that belongs to the database, and
// returns it when it is.
func (s *Store) checkKey(ctx context.Context, at health.Location) (health.Finding, *keyfile.Box) {
	const name, why = "key", "Keys and purchases can't be read with another key file."
	check, err := s.db.Meta(ctx, keyfile.CheckName)
	if err != nil {
		return health.Of(name, err, why, "Check the database."), nil
	}
	if check == "" {
		return health.Finding{Name: name, Level: health.OK, What: "The database has no key file yet"}, nil
	}
	box, err := s.Instance.Location.Open(ctx, s.db.Queries)
	if err != nil {
		return health.Of(name, err, why, health.KeyFileFix(err, at)), nil
	}
	return health.Finding{Name: name, Level: health.OK, What: "The key file belongs to the database"}, box
}

// checkAdministrator reports whether somebody can sign in to the pages of administrators.
func (s *Store) checkAdministrator(ctx context.Context) health.Finding {
	const name, why = "administrator", "Nobody can create workspaces or invite people on the pages."
	switch there, err := s.Instance.People.HasAdministrator(ctx); {
	case err != nil:
		return health.Of(name, err, why, "Check the database.")
	case !there:
		return health.Finding{Name: name, Level: health.Warn, What: "No administrator yet", Why: why, Fix: "countersign store setup-link"}
	}
	return health.Finding{Name: name, Level: health.OK, What: "An administrator exists"}
}

// checkQuota names workspaces that have used nine tenths of their quota of uploads.
func (s *Store) checkQuota(ctx context.Context) health.Finding {
	const name, why = "upload quota", "They soon can't upload files."
	full, err := s.db.UploadedMost(ctx, s.uploadQuota/10*9, namedItems)
	switch {
	case err != nil:
		return health.Of(name, err, why, "Check the database.")
	case len(full) > 0:
		return health.Finding{Name: name, Level: health.Warn, What: "Workspaces with little room for uploads: " + strings.Join(full, ", "),
			Why: why, Fix: "Remove files that nobody needs, or start the server with a larger --upload-quota."}
	}
	return health.Finding{Name: name, Level: health.OK, What: "Every workspace has room for uploads"}
}

// comparedBytes is how much of the content of uploaded files is compared.
const comparedBytes = 64 << 20

// checkMedia reports whether uploaded files can be written.
func (s *Store) checkMedia(ctx context.Context, quick bool) health.Finding {
	const name, why = "uploaded files", "Nobody can upload files, and those that are there may be missing."
	if err := s.Media.Bucket().Check(ctx); err != nil {
		return health.Of(name, err, why, "Check the folder or the bucket, and --media and its credentials.")
	}
	most := int64(comparedBytes)
	if quick {
		most = 0
	}
	files, compared, lacks, err := s.Media.Compare(ctx, most)
	if err != nil {
		return health.Of(name, err, why, "Check the folder or the bucket, and --media and its credentials.")
	}
	if len(lacks) > 0 {
		return health.Finding{Name: name, Level: health.Fail, What: fmt.Sprintf("%s lacks %s", s.Media.Bucket(), blob.LacksText(lacks)),
			Why: "Nobody can see or download them, and new backups lack them.", Fix: "Copy them back from an earlier backup, or upload them again."}
	}
	what := "Uploaded files can be written to " + s.Media.Bucket().String()
	if files > 0 {
		what += fmt.Sprintf("; %d are there, %d of them compared by content", files, compared)
	}
	return health.Finding{Name: name, Level: health.OK, What: what}
}

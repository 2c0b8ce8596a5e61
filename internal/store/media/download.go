package media

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/blob"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/validation"
	"github.com/countersign/countersign/internal/token"
)

// For how long a download link is valid.
const (
	DefaultLinkTime = 7 * 24 * time.Hour
	MaxLinkTime     = 90 * 24 * time.Hour
)

// tokenPrefix is that of the tokens of download links.
const tokenPrefix = "csd_"

// Link is a download link. The database has only the digest of its token.
type Link = storedb.DownloadLink

// The errors of a download link, of kind Forbidden.
var (
	ErrLinkUnknown = fault.Forbidden("download_unknown", "This download link is not valid. It may have been copied in part")
	ErrLinkExpired = fault.Forbidden("download_expired", "This download link has expired")
	ErrLinkEnded   = fault.Forbidden("download_ended", "This download link no longer works, because the purchase was refunded or revoked")
	ErrNoFile      = fault.Forbidden("download_no_file", "The file was removed by the seller")
)

// CreateLink creates a link by which the buyer of a purchase downloads the file of its item, and
// returns its token. The errors are of kind Invalid (link_time) and Conflict (item_no_file,
// purchase_refunded, …).
func (s *Service) CreateLink(ctx context.Context, a people.Actor, purchase int64, valid time.Duration) (value string, l Link, err error) {
	if valid <= 0 || valid > MaxLinkTime {
		return "", Link{}, fault.Invalid("link_time", fmt.Sprintf("A download link is valid for at most %d days", MaxLinkTime/(24*time.Hour)))
	}
	c, err := s.validation.Purchase(ctx, a, purchase)
	if err == nil {
		err = access.In(ctx, s.db, a, c.Purchase.WorkspaceID, access.Manage, validation.NoPurchase(purchase))
	}
	if err != nil {
		return "", Link{}, err
	}
	value = token.New(tokenPrefix)
	l = Link{Digest: digest(value), Purchase: purchase, CreatedAt: s.timestamp(), CreatedBy: a.ID, ExpiresAt: countersign.At(s.now().Add(valid))}
	err = s.db.Tx(ctx, func(tx *storedb.DB) error {
		p, err := tx.LockPurchase(ctx, purchase)
		if err == nil {
			err = access.In(ctx, tx, a, p.WorkspaceID, access.Manage, validation.NoPurchase(purchase))
		}
		if err != nil {
			return sqldb.IfNotFound(err, validation.NoPurchase(purchase))
		}
		if p.State != storedb.StateActive {
			return fault.Conflict("purchase_"+string(p.State), "No link was created: "+validation.StateReason(p))
		}
		if _, err := tx.ItemFile(ctx, p.ItemID); err != nil {
			return sqldb.IfNotFound(err, fault.Conflict("item_no_file", fmt.Sprintf("Item %d has no file for buyers yet", p.ItemID)))
		}
		if err := tx.AddDownloadLink(ctx, l); err != nil {
			return err
		}
		return people.Record(ctx, &tx.DB, s.now(), a, people.Event{
			Action: actionCreateLink, Workspace: c.Workspace, Subject: strconv.FormatInt(purchase, 10), Detail: "valid until " + l.ExpiresAt.String(),
		})
	})
	return value, l, err
}

// digest is that by which a link is found.
func digest(value string) string {
	sum := token.Digest(value)
	return hex.EncodeToString(sum[:])
}

// Download opens the file to which a token leads. Close the reader. The errors are of kind Forbidden:
// [ErrLinkUnknown], [ErrLinkExpired], [ErrLinkEnded] and [ErrNoFile].
func (s *Service) Download(ctx context.Context, value string) (UploadedFile, blob.Reader, error) {
	if err := s.gate.Ready(); err != nil {
		return UploadedFile{}, blob.Reader{}, err
	}
	_, p, err := s.findLink(ctx, value)
	if err != nil {
		return UploadedFile{}, blob.Reader{}, err
	}
	m, err := s.db.ItemFile(ctx, p.ItemID)
	if err != nil {
		return UploadedFile{}, blob.Reader{}, sqldb.IfNotFound(err, error(ErrNoFile))
	}
	m, content, err := s.open(ctx, m)
	if errors.Is(err, ErrNotFound) {
		err = fmt.Errorf("media: the file is missing: %s", key(m)) // the seller did not remove it
	}
	return m, content, err
}

// MarkDownloaded makes the purchase of a token count as downloaded, which the audit log notes once. Its
// errors are those of [Service.Download].
func (s *Service) MarkDownloaded(ctx context.Context, a people.Actor, value string) error {
	l, p, err := s.findLink(ctx, value)
	if noted := p.Downloaded && !l.DownloadedAt.IsZero(); err != nil || noted {
		return err
	}
	return s.take(ctx, a, l)
}

// findLink returns the link of a token and its purchase, while both are valid.
func (s *Service) findLink(ctx context.Context, value string) (l Link, p storedb.Purchase, err error) {
	if !token.Valid(tokenPrefix, value) {
		return l, p, ErrLinkUnknown
	}
	if l, err = s.db.DownloadLink(ctx, digest(value)); err != nil {
		return l, p, sqldb.IfNotFound(err, error(ErrLinkUnknown))
	}
	if !s.now().Before(l.ExpiresAt.Time) {
		return l, p, ErrLinkExpired
	}
	p, err = s.db.PurchaseByID(ctx, l.Purchase)
	if err == nil && p.State != storedb.StateActive {
		err = ErrLinkEnded
	}
	return l, p, sqldb.IfNotFound(err, error(ErrLinkEnded))
}

// take notes that a link was used, and that its purchase is downloaded.
func (s *Service) take(ctx context.Context, a people.Actor, l Link) error {
	return s.db.Tx(ctx, func(tx *storedb.DB) error {
		p, err := tx.LockPurchase(ctx, l.Purchase)
		if err == nil && p.State != storedb.StateActive {
			err = ErrLinkEnded // meanwhile
		}
		if err != nil {
			return sqldb.IfNotFound(err, error(ErrLinkEnded))
		}
		if err := tx.UseDownloadLink(ctx, l.Digest, s.timestamp()); err != nil || p.Downloaded {
			return err
		}
		p.Downloaded = true
		if err := tx.UpdatePurchaseTerms(ctx, p); err != nil {
			return err
		}
		w, err := tx.WorkspaceByID(ctx, p.WorkspaceID)
		if err != nil {
			return err
		}
		return people.Record(ctx, &tx.DB, s.now(), a, people.Event{
			Action: actionDownload, Workspace: w.Account.Username, Subject: strconv.FormatInt(p.ID, 10), Before: "downloaded: false", After: "downloaded: true",
		})
	})
}

package media_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/media"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/storetest"
)

func TestABuyerDownloadsTheFileByALink(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		buyer := people.Buyer(people.FrontEndPage, storetest.Client)
		sold := must.Get(f.CreatePurchase(t.Context(), storetest.Operator, "ada", store.Purchase{ItemID: 1, License: "Regular"}))(t)
		if _, _, err := f.Media.CreateLink(t.Context(), storetest.Operator, sold.ID, time.Hour); !fault.HasCode(err, "item_no_file") {
			t.Errorf("without a file: %v", err)
		}
		must.Get(f.Media.SetItem(t.Context(), storetest.Operator, 1, media.File, media.Upload{Name: "rain.zip", From: strings.NewReader("rain")}))(t)
		for _, valid := range []time.Duration{0, -time.Hour, 91 * 24 * time.Hour} {
			if _, _, err := f.Media.CreateLink(t.Context(), storetest.Operator, sold.ID, valid); !fault.HasCode(err, "link_time") {
				t.Errorf("%v: %v", valid, err)
			}
		}
		token, _, err := f.Media.CreateLink(t.Context(), storetest.Operator, sold.ID, 48*time.Hour)
		must.Do(t, err)
		if e := f.NewestAudit(t); e.Action != "purchase.create_download_link" || e.Workspace != "ada" || strings.Contains(e.Detail, token) || e.Detail == "" {
			t.Errorf("%+v", e)
		}
		downloaded := func() bool {
			t.Helper()
			c := must.Get(f.Validation.Purchase(t.Context(), storetest.Operator, sold.ID))(t)
			return c.Purchase.Downloaded
		}
		open := func(value string, taken bool) (string, error) {
			t.Helper()
			m, r, err := f.Media.Download(t.Context(), value)
			if err != nil {
				return "", err
			}
			defer r.Close()
			if taken {
				if err := f.Media.MarkDownloaded(t.Context(), buyer, value); err != nil {
					return "", err
				}
			}
			content, err := io.ReadAll(r)
			return m.Title + ": " + string(content), err
		}
		if got, err := open(token, false); got != "rain.zip: rain" || err != nil || downloaded() {
			t.Errorf("a look: %q, %v, downloaded %t", got, err, downloaded())
		}
		before := len(f.Audits(t))
		for range 2 {
			if got, err := open(token, true); got != "rain.zip: rain" || err != nil || !downloaded() {
				t.Errorf("%q, %v, downloaded %t", got, err, downloaded())
			}
		}
		if e := f.NewestAudit(t); len(f.Audits(t)) != before+1 || e.Action != "purchase.download" || e.Kind != string(people.KindBuyer) || e.Workspace != "ada" {
			t.Errorf("%d entries, %+v", len(f.Audits(t))-before, e)
		}
		err = f.DB().Tx(t.Context(), func(tx *storedb.DB) error { // who writes waits for this transaction
			if _, err := tx.LockPurchase(t.Context(), sold.ID); err != nil {
				return err
			}
			_, err := open(token, true)
			return err
		})
		if err != nil {
			t.Errorf("a repeated download, or a part of it, writes: %v", err)
		}
		used, err := sqldb.One(t.Context(), f.DB().Queries, sqldb.Value[int64], `SELECT count(*) FROM download_links WHERE purchase_id = $1 AND downloaded_at IS NOT NULL`, sold.ID)
		if err != nil || used != 1 {
			t.Errorf("%d used links, %v", used, err)
		}
		if err := f.Media.MarkDownloaded(t.Context(), buyer, token[:len(token)-1]); !errors.Is(err, media.ErrLinkUnknown) {
			t.Errorf("half a token: %v", err)
		}
		for _, altered := range []string{"", token[:len(token)-1], token + "A", strings.ToLower(token), token[:10] + "0" + token[11:], "csd_" + strings.Repeat("0", 49)} {
			if _, err := open(altered, true); altered != token && !errors.Is(err, media.ErrLinkUnknown) {
				t.Errorf("%q: %v", altered, err)
			}
		}
		must.Get(f.EndPurchase(t.Context(), storetest.Operator, sold.Code, store.StateRefunded))(t)
		if _, err := open(token, true); !errors.Is(err, media.ErrLinkEnded) {
			t.Errorf("after a refund: %v", err)
		}
		if _, _, err := f.Media.CreateLink(t.Context(), storetest.Operator, sold.ID, time.Hour); !fault.HasCode(err, "purchase_refunded") {
			t.Errorf("after a refund: %v", err)
		}
		must.Get(f.RestorePurchase(t.Context(), storetest.Operator, sold.Code))(t)
		if _, err := open(token, true); err != nil {
			t.Errorf("restored: %v", err)
		}
		must.Get(f.Media.RemoveItem(t.Context(), storetest.Operator, 1, media.File))(t)
		if _, err := open(token, true); !errors.Is(err, media.ErrNoFile) {
			t.Errorf("without its file: %v", err)
		}
		f.Clock.Set(f.Clock.Now().Add(48 * time.Hour))
		if _, err := open(token, true); !errors.Is(err, media.ErrLinkExpired) {
			t.Errorf("late: %v", err)
		}
	})
}

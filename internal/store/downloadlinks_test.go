package store

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/media"
)

func TestABuyerDownloadsTheFileByALink(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		buyer := people.Buyer(people.FacePage, client)
		sold, err := f.CreatePurchase(t.Context(), operator, "ada", Purchase{ItemID: 1, License: "Regular"})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := f.Media.CreateLink(t.Context(), operator, sold.ID, time.Hour); !fault.HasCode(err, "item_no_file") {
			t.Errorf("without a file: %v", err)
		}
		if _, err := f.Media.SetItem(t.Context(), operator, 1, media.File, media.Upload{Name: "rain.zip", From: strings.NewReader("rain")}); err != nil {
			t.Fatal(err)
		}
		for _, valid := range []time.Duration{0, -time.Hour, 91 * 24 * time.Hour} {
			if _, _, err := f.Media.CreateLink(t.Context(), operator, sold.ID, valid); !fault.HasCode(err, "link_time") {
				t.Errorf("%v: %v", valid, err)
			}
		}
		token, _, err := f.Media.CreateLink(t.Context(), operator, sold.ID, 48*time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if e := f.newestAudit(t); e.Action != "purchase.create_download_link" || e.Workspace != "ada" || strings.Contains(e.Detail, token) || e.Detail == "" {
			t.Errorf("%+v", e)
		}
		downloaded := func() bool {
			t.Helper()
			c, err := f.Validation.Purchase(t.Context(), operator, sold.ID)
			if err != nil {
				t.Fatal(err)
			}
			return c.Purchase.Downloaded
		}
		open := func(value string, taken bool) (string, error) {
			t.Helper()
			m, r, err := f.Media.Download(t.Context(), buyer, value, taken)
			if err != nil {
				return "", err
			}
			defer r.Close()
			content, err := io.ReadAll(r)
			return m.Title + ": " + string(content), err
		}
		if got, err := open(token, false); got != "rain.zip: rain" || err != nil || downloaded() {
			t.Errorf("a look: %q, %v, downloaded %t", got, err, downloaded())
		}
		before := len(f.audits(t))
		for range 2 {
			if got, err := open(token, true); got != "rain.zip: rain" || err != nil || !downloaded() {
				t.Errorf("%q, %v, downloaded %t", got, err, downloaded())
			}
		}
		if e := f.newestAudit(t); len(f.audits(t)) != before+1 || e.Action != "purchase.download" || e.Kind != string(people.KindBuyer) || e.Workspace != "ada" {
			t.Errorf("%d entries, %+v", len(f.audits(t))-before, e)
		}
		used, err := sqldb.One(t.Context(), f.db.Queries, sqldb.Value[int64], `SELECT count(*) FROM download_links WHERE purchase_id = $1 AND downloaded_at IS NOT NULL`, sold.ID)
		if err != nil || used != 1 {
			t.Errorf("%d used links, %v", used, err)
		}
		for _, altered := range []string{"", token[:len(token)-1], token + "A", strings.ToLower(token), token[:10] + "0" + token[11:], "csd_" + strings.Repeat("0", 49)} {
			if _, err := open(altered, true); altered != token && !errors.Is(err, media.ErrLinkUnknown) {
				t.Errorf("%q: %v", altered, err)
			}
		}
		if _, err := f.EndPurchase(t.Context(), operator, sold.Code, StateRefunded); err != nil {
			t.Fatal(err)
		}
		if _, err := open(token, true); !errors.Is(err, media.ErrLinkEnded) {
			t.Errorf("after a refund: %v", err)
		}
		if _, _, err := f.Media.CreateLink(t.Context(), operator, sold.ID, time.Hour); !fault.HasCode(err, "purchase_refunded") {
			t.Errorf("after a refund: %v", err)
		}
		if _, err := f.RestorePurchase(t.Context(), operator, sold.Code); err != nil {
			t.Fatal(err)
		}
		if _, err := open(token, true); err != nil {
			t.Errorf("restored: %v", err)
		}
		if _, err := f.Media.RemoveItem(t.Context(), operator, 1, media.File); err != nil {
			t.Fatal(err)
		}
		if _, err := open(token, true); !errors.Is(err, media.ErrNoFile) {
			t.Errorf("without its file: %v", err)
		}
		f.clock.set(f.clock.Now().Add(48 * time.Hour))
		if _, err := open(token, true); !errors.Is(err, media.ErrLinkExpired) {
			t.Errorf("late: %v", err)
		}
	})
}

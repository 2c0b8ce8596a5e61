package pages_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/media"
)

func TestAManagerMakesADownloadLinkForABuyer(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "manager")
		sold := must.Get(s.CreatePurchase(t.Context(), operator, "ada", store.Purchase{ItemID: 1229, License: "Regular"}))(t)
		page := "/w/ada/purchases/" + strconv.FormatInt(sold.ID, 10)
		path := page + "/download-link"
		b.Get(page).Says("Create a download link")
		b.Fill(path, path).Status(http.StatusUnprocessableEntity).Says("has no file for buyers yet")
		must.Get(s.Media.SetItem(t.Context(), operator, 1229, media.File, media.Upload{Name: `Rain "☔".zip`, From: strings.NewReader("rain and thunder")}))(t)
		b.Fill(path, path, "days", "many").Status(http.StatusUnprocessableEntity)
		made := b.Fill(path, path, "days", "30").Status(http.StatusOK).Says("Copy the link now")
		link := made.Value("download-link")
		if !strings.HasPrefix(link, s.server.URL+"/download/csd_") {
			t.Fatalf("the link is %q", link)
		}
		b.Get(page).Says("Created a download link by manager@shop.example").SilentAbout("Downloaded the file", "csd_")

		buyer := s.browser(t)
		at := strings.TrimPrefix(link, s.server.URL)
		head := buyer.Send("HEAD", at, nil)
		head.Status(http.StatusOK)
		for _, r := range []struct {
			name, value string
			status      int
		}{
			{"If-None-Match", head.Header.Get("ETag"), http.StatusNotModified},
			{"If-Match", `"another"`, http.StatusPreconditionFailed},
		} {
			buyer.Get(at, r.name, r.value).Status(r.status)
		}
		b.Get(page).SilentAbout("Downloaded the file")
		got := buyer.Get(at).Status(http.StatusOK)
		for name, want := range map[string]string{
			"Content-Type": "application/octet-stream", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
			"Content-Disposition": `attachment; filename*=utf-8''Rain%20%E2%98%94.zip`,
		} {
			expect.Equalf(t, got.Header.Get(name), want, "%s", name)
		}
		expect.Equalf(t, got.Body, "rain and thunder", "the file has")
		if part := buyer.Get(at, "Range", "bytes=5-7").Status(http.StatusPartialContent); part.Body != "and" {
			t.Errorf("a range has %q", part.Body)
		}
		b.Get(page).Says("Downloaded the file of a purchase by Buyer", "Downloaded Yes")
		b.Get("/w/ada/audit").Says("Downloaded the file of a purchase", "Created a download link").SilentAbout("csd_")

		buyer.Get(at[:len(at)-1]).Status(http.StatusForbidden).Says("The link is not valid")
		buyer.Get("/download/x").Status(http.StatusForbidden)
		must.Get(s.EndPurchase(t.Context(), operator, sold.Code, store.StateChargedBack))(t)
		buyer.Get(at).Status(http.StatusForbidden).Says("The link no longer works")
		must.Get(s.RestorePurchase(t.Context(), operator, sold.Code))(t)
		must.Get(s.Media.RemoveItem(t.Context(), operator, 1229, media.File))(t)
		buyer.Get(at).Status(http.StatusGone).Says("The file was removed")
	})
}

func TestALinkThatHasExpiredSaysSo(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		sold := must.Get(s.CreatePurchase(t.Context(), operator, "ada", store.Purchase{ItemID: 1229, License: "Regular"}))(t)
		must.Get(s.Media.SetItem(t.Context(), operator, 1229, media.File, media.Upload{Name: "rain.zip", From: io.LimitReader(zeros{}, 10)}))(t)
		token, _, err := s.Media.CreateLink(t.Context(), operator, sold.ID, 1)
		must.Do(t, err)
		s.browser(t).Get("/download/"+token).Status(http.StatusGone).Says("The link has expired", "Ask the seller")
	})
}

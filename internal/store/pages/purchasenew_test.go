package pages_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/webtest"
)

// newItem adds an item to a workspace.
func (s team) newItem(t *testing.T, workspace, name string, support bool) store.Item {
	t.Helper()
	i := must.Get(s.CreateItem(t.Context(), operator, workspace, func(i *store.Item) error {
		i.Name, i.Support = name, support
		return nil
	}))(t)
	return i
}

func TestAnItemIsChosenByItsName(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "manager")
		few := b.Get("/w/ada/purchases/new?item=101").Status(http.StatusOK).Says("Rain Loops (101)", "Café Theme")
		if !chosen(few, "101") || len(few.All("datalist")) != 0 {
			t.Error("101 is not chosen from a list")
		}
		item := b.Get("/w/ada/items/101").Status(http.StatusOK)
		if len(item.Having("href", "/w/ada/purchases/new?item=101")) == 0 {
			t.Error("the item does not lead to the form")
		}
		for _, path := range []string{"/w/ada/purchases?item=101", "/w/ada/requests?item=101"} {
			if !chosen(b.Get(path).Says("Rain Loops (101)"), "101") {
				t.Errorf("%s: 101 is not chosen", path)
			}
		}
		s.as(t, "owner").Get("/w/ada/settings/api/new").Says("Rain Loops (101)")
		for n := range 100 {
			s.newItem(t, "ada", "More "+strconv.Itoa(n), false)
		}
		many := b.Get("/w/ada/purchases/new?item=101").Says("Type the name or the id")
		if len(many.All("datalist")) != 1 || many.Value("item") != "101" || len(many.Having("list", "field-item-list")) != 1 {
			t.Error("a long list is not one of suggestions")
		}
		empty := s.as(t, "administrator")
		empty.Post("/w", "username", "fresh", "name", "Fresh", "currency", "USD")
		if len(empty.Get("/w/fresh/purchases/new").Status(http.StatusOK).Says("Create an item first.").Having("href", "/w/fresh/items/new")) == 0 {
			t.Error("nothing leads to a new item")
		}
	})
}

// chosen reports whether a list of the page has a value chosen.
func chosen(p *webtest.Page, value string) bool {
	return slices.ContainsFunc(p.Having("value", value), func(n *html.Node) bool { return webtest.Has(n, "selected") })
}

func TestTheFormOfAPurchaseSaysAllThatIsWrongAndKnowsSupport(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		with, without := s.newItem(t, "ada", "With support", true), s.newItem(t, "ada", "Without", false)
		b := s.as(t, "manager")
		form := func(i store.Item) *webtest.Page {
			return b.Get("/w/ada/purchases/new?item=" + strconv.FormatInt(i.ID, 10)).Status(http.StatusOK)
		}
		p := form(with).Says("Support ends when this day begins (UTC).")
		if p.Value("sold_on") != "2026-11-01" || p.Value("supported_until") != "2027-05-01" {
			t.Errorf("sold on %q, support until %q", p.Value("sold_on"), p.Value("supported_until"))
		}
		if p := form(without).Says("This item has no support"); p.Value("supported_until") != "" {
			t.Errorf("support until %q", p.Value("supported_until"))
		}
		b.Post("/w/ada/purchases/new", "item", "", "price", "12,50", "sold_on", "2026-11-02", "supported_until", "soon", "buyer.email", "x", "code", "é").Status(http.StatusUnprocessableEntity).
			Wrong("item", "Choose the item").Wrong("price", "at most two decimals").Wrong("sold_on", "in the future").Wrong("supported_until", "year, month and day").
			Wrong("buyer.email", "not an e-mail address").Wrong("code", "printable")
		made := b.Post("/w/ada/purchases/new", "item", "101", "sold_on", "2026-10-30", "supported_until", "2027-12-31", "buyer.email", "x").Status(http.StatusUnprocessableEntity)
		made.Wrong("buyer.email", "")
		made = b.Post("/w/ada/purchases/new", "item", "101", "sold_on", "2026-10-30", "supported_until", "2027-12-31").Status(http.StatusSeeOther)
		b.Get(made.Header.Get("Location")).Says("30 Oct 2026 (UTC)", "31 Dec 2027 (UTC)")
	})
}

func TestListsNameItemsAndLinkTheirFirstCell(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		path, sold := s.sell(t, store.Purchase{ItemID: 101, SoldAt: countersign.At(time.Date(2030, 1, 1, 15, 0, 0, 0, time.UTC))})
		b := s.as(t, "viewer")
		for _, list := range []string{"/w/ada", "/w/ada/purchases"} {
			p := b.Get(list).Says("Rain Loops", "Regular · 101")
			if links := p.Having("href", path); len(links) != 1 || webtest.TextOf(links[0]) != sold.Code[:8]+"…"+sold.Code[len(sold.Code)-4:] {
				t.Errorf("%s: the code does not lead to the purchase", list)
			}
		}
		if len(b.Get(path).Having("href", "/w/ada/items/101")) == 0 {
			t.Error("the purchase does not lead to its item")
		}
		_, value := s.makeKey(t, "till")
		id := s.call(t, value)
		links := b.Get("/w/ada/requests").Having("href", "/w/ada/requests/"+id)
		if len(links) != 1 || !strings.Contains(webtest.TextOf(links[0]), "UTC") {
			t.Error("the time does not lead to the call")
		}
	})
}

func TestARefundedPurchaseSaysWhenAndByWhom(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		path, _ := s.sell(t, store.Purchase{})
		b := s.as(t, "manager")
		if len(b.Get(path).Says("No licenses yet").Having("href", "/license")) == 0 {
			t.Error("nothing leads to the license page")
		}
		b.Post(path + "/refund").LeadsTo(path)
		b.Get(path).Says("Refunded on 1 Nov 2026, 12:00 UTC by manager@shop.example", "No licenses").SilentAbout("with this code")
	})
}

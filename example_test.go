package countersign_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/countersign/countersign"
)

// startStore stands in for a store with one item and one purchase.
func startStore() *httptest.Server {
	const item = `{"id":1229,"name":"Rain Film","version":"1.2.3","price":{"regular":49.00,"extended":199.00},"currency":"USD"}`
	answers := map[string]string{
		"GET /api/account/details":       `{"status":"success","data":{"name":{"full_name":"Ada Byron"},"balance":120.50,"currency":"USD"}}`,
		"GET /api/items/all":             `{"status":"success","items":[` + item + `]}`,
		"GET /api/items/item":            `{"status":"success","item":` + item + `}`,
		"POST /api/purchases/validation": `{"status":"success","data":{"purchase":{"license_type":"Regular","item":` + item + `}}}`,
	}
	mux := http.NewServeMux()
	for pattern, answer := range answers {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) })
	}
	return httptest.NewServer(mux)
}

func ExampleClient_Account() {
	store := startStore()
	defer store.Close()
	client := &countersign.Client{BaseURL: store.URL, Key: "csk_…"}

	account, err := client.Account(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(account.Name.FullName, account.Balance, account.Currency)
	// Output: Ada Byron 120.50 USD
}

func ExampleClient_Items() {
	store := startStore()
	defer store.Close()
	client := &countersign.Client{BaseURL: store.URL, Key: "csk_…"}

	items, err := client.Items(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, item := range items {
		fmt.Println(item.ID, item.Name, item.Version)
	}
	// Output: 1229 Rain Film 1.2.3
}

func ExampleClient_Item() {
	store := startStore()
	defer store.Close()
	client := &countersign.Client{BaseURL: store.URL, Key: "csk_…"}

	item, err := client.Item(context.Background(), 1229)
	var refused *countersign.Error
	switch {
	case errors.As(err, &refused) && refused.Kind == countersign.KindNotFound:
		fmt.Println("no such item")
	case err != nil:
		fmt.Println(err)
	default:
		fmt.Println(item.Name, item.Price.Extended, item.Currency)
	}
	// Output: Rain Film 199.00 USD
}

func ExampleClient_ValidatePurchase() {
	store := startStore()
	defer store.Close()
	client := &countersign.Client{BaseURL: store.URL, Key: "csk_…"}

	answer, err := client.ValidatePurchase(context.Background(), "7c0f3b1e-2a50-4d3c-9f0e-5b1a2c3d4e5f")
	switch {
	case err != nil:
		fmt.Println("nobody can tell now, try again later:", err)
	case answer.Valid:
		fmt.Println("valid for", answer.Purchase.Item.Name, "with a license of the type", answer.Purchase.LicenseType)
	default:
		fmt.Println("not valid:", answer.Reason)
	}
	// Output: valid for Rain Film with a license of the type Regular
}

// startAddon stands in for an addon with one user who has bought.
func startAddon() *httptest.Server {
	const membership = `{"active":true,"status":"grace","package":{"package_id":2,"name":"Gold"},"until":"2026-12-01T10:00:00Z","grace":true,"manage_url":"https://play.google.com/store/account/subscriptions","version":7}`
	answers := map[string]string{
		"POST /api-addons/iap/verify":            `{"status":"success","result":"created","purchase":{"id":"pur_1","state":"active"},"membership":` + membership + `}`,
		"GET /api-addons/iap/users/7/membership": `{"status":"success","membership":` + membership + `}`,
		"GET /api-addons/iap/events":             `{"status":"success","events":[{"seq":41,"event":{"type":"membership.grace_started","user_id":"7","membership":` + membership + `}}],"cursor":41,"missed":false}`,
	}
	mux := http.NewServeMux()
	for pattern, answer := range answers {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) })
	}
	return httptest.NewServer(mux)
}

func ExampleAppClient_VerifyPurchase() {
	addon := startAddon()
	defer addon.Close()
	// The app has the API key, and the user token that its site handed to it.
	app := &countersign.AppClient{BaseURL: addon.URL, Key: "cak_…", UserToken: "eyJ…"}

	verified, err := app.VerifyPurchase(context.Background(), "the purchase token", "")
	var refused *countersign.Error
	switch {
	case errors.As(err, &refused) && !refused.Retryable():
		fmt.Println("refused:", refused.Message)
	case err != nil:
		fmt.Println("the purchase has not failed, verify it again later:", err)
	case verified.Pending():
		fmt.Println("your payment is being processed")
	case verified.Membership.Grace:
		fmt.Println("your payment failed, update it at", *verified.Membership.ManageURL)
	default:
		fmt.Println("you have", verified.Membership.Package.Name)
	}
	// Output: your payment failed, update it at https://play.google.com/store/account/subscriptions
}

func ExampleAddonClient_UserMembership() {
	addon := startAddon()
	defer addon.Close()
	site := &countersign.AddonClient{BaseURL: addon.URL, Key: "cak_…", Secret: "cas_…"}

	var last countersign.IAPMembershipRead // of this user, from an earlier call
	read, err := site.UserMembership(context.Background(), "7", last)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(read.Active, read.Package.Name, read.Version)
	// Output: true Gold 7
}

func ExampleAddonClient_Events() {
	addon := startAddon()
	defer addon.Close()
	site := &countersign.AddonClient{BaseURL: addon.URL, Key: "cak_…", Secret: "cas_…"}

	feed, err := site.Events(context.Background(), 0, 100, 25*time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, one := range feed.Events {
		event, err := one.Decode()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(event.Type, event.UserID, event.Membership.Version)
	}
	fmt.Println("next time after", feed.Cursor)
	// Output:
	// membership.grace_started 7 7
	// next time after 41
}

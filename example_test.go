package countersign_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

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

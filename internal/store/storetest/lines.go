package storetest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/store"
)

// TwoShops is two workspaces: ada sells the items 1 (with support) and 2 (without), bob sells
// item 3.
var TwoShops = Lines(
	WorkspaceText("ada"), WorkspaceText("bob"),
	ItemText("ada", 1, `"support":true`), ItemText("ada", 2, `"support":false`), ItemText("bob", 3, `"support":true`),
)

// Lines is a file of lines.
func Lines(texts ...string) string { return strings.Join(texts, "\n") + "\n" }

// WorkspaceText is the line of a workspace. Here and below, members take the place of those
// that a line has by itself.
func WorkspaceText(name string, members ...string) string {
	return Object(members, `"type":"workspace"`, `"username":"`+name+`"`, `"name":{"firstname":"`+name+`","lastname":"Byron"}`,
		`"email":"`+name+`@shop.example"`, `"balance":120.50`, `"currency":"USD"`, `"registered_at":"2024-04-27T12:00:00Z"`)
}

// ItemText is the line of an item.
func ItemText(workspace string, id int, members ...string) string {
	return Object(members, `"type":"item"`, `"workspace":"`+workspace+`"`, `"id":`+Text(id), `"kind":"other"`,
		`"name":"Item `+Text(id)+`"`, `"version":"1.2.3"`, `"price":{"regular":49.00,"extended":199.00}`, `"currency":"USD"`,
		`"published_at":"2024-04-27T12:00:00Z"`)
}

// PurchaseText is the line of a purchase.
func PurchaseText(workspace string, item int, code string, members ...string) string {
	return Object(members, `"type":"purchase"`, `"workspace":"`+workspace+`"`, `"item_id":`+Text(item),
		`"purchase_code":"`+code+`"`, `"license_type":"Regular"`, `"price":49.00`, `"currency":"USD"`, `"date":"2024-04-27T12:00:00Z"`)
}

// KeyText is the line of a key.
func KeyText(workspace, name string, members ...string) string {
	return Object(members, `"type":"key"`, `"workspace":"`+workspace+`"`, `"name":"`+name+`"`)
}

// Object writes a line. A member given by the test takes the place of the one
// with the same name.
func Object(given []string, members ...string) string {
	name := func(member string) string { return member[:strings.Index(member, ":")] }
	for _, g := range given {
		members = slices.DeleteFunc(members, func(m string) bool { return name(m) == name(g) })
	}
	return "{" + strings.Join(append(members, given...), ",") + "}"
}

// Text is a number as text.
func Text(n int) string { return strconv.Itoa(n) }

// SoldCodes is a purchase in every state of every item of TwoShops.
func SoldCodes() string {
	var all []string
	for item, workspace := range map[int]string{1: "ada", 2: "ada", 3: "bob"} {
		for _, state := range []store.State{store.StateActive, store.StateRefunded, store.StateChargedBack, store.StateRevoked} {
			all = append(all, PurchaseText(workspace, item, fmt.Sprintf("code-%d-%s", item, state), `"state":"`+string(state)+`"`))
		}
	}
	return Lines(all...)
}

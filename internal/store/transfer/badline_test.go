package transfer_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
)

// before stands in the file ahead of the bad lines: two workspaces, their items,
// a purchase and a key of each.
var before = storetest.TwoShops + storetest.Lines(
	storetest.PurchaseText("bob", 3, "Bobs-Code"), storetest.PurchaseText("ada", 1, "adas-code"),
	storetest.KeyText("bob", "web", `"key":"bobs-key-0123456789"`), storetest.KeyText("ada", "web", `"key":"adas-key-0123456789"`, `"previous_key":"adas-old-0123456789"`),
)

// badLines: what is wrong with a line, and what the person who wrote it reads.
var badLines = []struct{ name, line, reason string }{
	// The line as a whole.
	{"not JSON", `purchase`, `not one JSON object: invalid character 'p' at start of value`},
	{"half an object", `{"type":"item","workspace":"ada"`, `not one JSON object: unexpected EOF`},
	{"an array", `[{"type":"item"}]`, `this is an array of JSON; write one object on each line, without brackets around them and commas between them`},
	{"an array over several lines", `[`, `this is an array of JSON; write one object on each line, without brackets around them and commas between them`},
	{"an object over several lines", `{`, `an object is on several lines; write each object on one line`},
	{"a comma behind an object", `{"type":"item"},`, `not one JSON object: invalid character ',' after top-level value; write one object on each line, without commas between them`},
	{"two faults of a purchase", storetest.PurchaseText("ada", 1, "x0", `"price":-1`, `"currency":"EURO"`), `price is negative; invalid currency "EURO": use three capital letters, like USD`},
	{"two faults of an item", storetest.ItemText("ada", 20, `"kind":"game"`, `"version":"v2"`), `invalid kind "game": use audio, video or other; invalid version "v2": use numbers with dots, like 1.2.3`},
	{"a string", `"type"`, `expected one JSON object`},
	{"null", `null`, `the member "type" is missing; it is workspace, key, item, purchase, license_key or license`},
	{"two objects", storetest.WorkspaceText("eve") + storetest.WorkspaceText("eve"), `not one JSON object: invalid character '{' after top-level value`},
	{"no type", `{"workspace":"ada"}`, `the member "type" is missing; it is workspace, key, item, purchase, license_key or license`},
	{"a type that is null", `{"type":null}`, `the member "type" is missing; it is workspace, key, item, purchase, license_key or license`},
	{"a type that is not a string", `{"type":5}`, `type: unexpected JSON number`},
	{"an unknown type", `{"type":"sale"}`, `unknown type "sale"; it is workspace, key, item, purchase, license_key or license`},
	{"a type in other letters", `{"type":"Purchase"}`, `unknown type "Purchase"; it is workspace, key, item, purchase, license_key or license`},
	{"an unknown member", storetest.WorkspaceText("ada", `"nickname":"a"`), `unknown member "nickname"`},
	{"an unknown member inside another", storetest.WorkspaceText("ada", `"profile":{"headline":"a"}`), `unknown member "profile.headline"`},
	{"a member in other letters", storetest.WorkspaceText("ada", `"Email":"a@b.example"`), `unknown member "Email"`},
	{"a member twice", `{"type":"workspace","username":"ada","email":"a@b.example","email":"a@b.example"}`, `the member "email" occurs twice`},
	{"the type twice", `{"type":"workspace","type":"workspace"}`, `the member "type" occurs twice`},
	{"a member inside another twice", storetest.WorkspaceText("ada", `"name":{"firstname":"a","firstname":"b"}`), `the member "name.firstname" occurs twice`},
	{"a link twice", storetest.WorkspaceText("ada", `"profile":{"social_links":{"x":"https://x.example","x":"https://x.example"}}`), `the member "profile.social_links.x" occurs twice`},
	{"invalid UTF-8", storetest.ItemText("ada", 1, "\"name\":\"a\xffb\""), `not one JSON object: invalid UTF-8`},
	{"half a surrogate pair", storetest.ItemText("ada", 1, `"name":"\ud800"`), "not one JSON object: invalid surrogate pair `\\ud800\"}` in string"},
	{"NUL as a character", "{\"type\":\"item\"\x00}", `not one JSON object: invalid character '\x00' after object value (expecting ',' or '}')`},
	{"an escaped NUL", storetest.ItemText("ada", 1, `"name":"a\u0000b"`), `name contains a NUL character or is not UTF-8`},

	// Workspaces.
	{"no username", storetest.Object([]string{`"type":"workspace"`}), `invalid username "": use 1 to 64 letters, digits, dots, dashes and underscores; begin with a letter or digit; registered_at is missing; invalid currency "": use three capital letters, like USD`},
	{"a username with NUL", storetest.WorkspaceText(`a\u0000b`), `invalid username "a\x00b": use 1 to 64 letters, digits, dots, dashes and underscores; begin with a letter or digit; name.firstname contains a NUL character or is not UTF-8; email contains a NUL character or is not UTF-8`},
	{"no registration", storetest.WorkspaceText("ada", `"registered_at":null`), `registered_at is missing`},
	{"a registration that is not a time", storetest.WorkspaceText("ada", `"registered_at":"yesterday"`), `registered_at: "yesterday" is not a timestamp like 2006-01-02T15:04:05Z`},
	{"a registration that is a number", storetest.WorkspaceText("ada", `"registered_at":1714219200`), `registered_at: a timestamp is a string`},
	{"a balance with three decimals", storetest.WorkspaceText("ada", `"balance":0.001`), `balance: the amount 0.001 is not a plain number with at most two decimals`},
	{"a negative quota", storetest.WorkspaceText("ada", `"quota":-1`), `quota: a number of calls a minute can't be negative; 0 means no limit`},
	{"a quota that is not a whole number", storetest.WorkspaceText("ada", `"quota":1.5`), `quota: expected a whole number`},
	{"a switch that is a word", storetest.WorkspaceText("ada", `"always_200":"yes"`), `always_200: unexpected JSON string`},
	{"links that are a list", storetest.WorkspaceText("ada", `"profile":{"social_links":["https://x.example"]}`), `profile.social_links: links are an object, not an array`},
	{"a link without a host", storetest.WorkspaceText("ada", `"profile":{"social_links":{"x":"x.example/ada"}}`), `social_links.x is not a web address that begins with https:// or http://`},
	{"a full name", storetest.WorkspaceText("ada", `"name":{"full_name":"Ada Byron"}`), `unknown member "name.full_name"`},

	// Items.
	{"an item of an unknown workspace", storetest.ItemText("eve", 20), `unknown workspace "eve"; its line must come before`},
	{"an item of no workspace", storetest.ItemText("", 20), `unknown workspace ""; its line must come before`},
	{"an item of an impossible workspace", storetest.ItemText(`a\u0000b`, 20), `unknown workspace "a\x00b"; its line must come before`},
	{"an item without an id", storetest.ItemText("ada", 0), `id: an item's id is a positive whole number`},
	{"an item with a negative id", storetest.ItemText("ada", -5), `id: an item's id is a positive whole number`},
	{"an id with a fraction", storetest.ItemText("ada", 1, `"id":1.5`), `id: expected a whole number`},
	{"an id beyond all bounds", storetest.ItemText("ada", 1, `"id":9223372036854775808`), `id: the number is too large`},
	{"an id that is a string", storetest.ItemText("ada", 1, `"id":"1"`), `id: unexpected JSON string`},
	{"an id that another workspace has", storetest.ItemText("ada", 3), `item 3 already exists: ids are unique in the store`},
	{"an unknown kind", storetest.ItemText("ada", 20, `"kind":"font"`), `invalid kind "font": use audio, video or other`},
	{"an item without a name", storetest.ItemText("ada", 20, `"name":""`), `name is missing`},
	{"a version with letters", storetest.ItemText("ada", 20, `"version":"1.2-beta"`), `invalid version "1.2-beta": use numbers with dots, like 1.2.3`},
	{"an item that was never published", storetest.ItemText("ada", 20, `"published_at":null`), `published_at is missing`},
	{"an amount that is a string", storetest.ItemText("ada", 20, `"price":{"regular":"49.00"}`), `price.regular: an amount is a number, not "49.00"`},
	{"an amount with an exponent", storetest.ItemText("ada", 20, `"price":{"regular":1e2}`), `price.regular: the amount 1e2 is not a plain number with at most two decimals`},
	{"an amount with a third decimal", storetest.ItemText("ada", 20, `"price":{"regular":49.999}`), `price.regular: the amount 49.999 is not a plain number with at most two decimals`},
	{"an amount with a third decimal of zero", storetest.ItemText("ada", 20, `"price":{"regular":49.000}`), `price.regular: the amount 49.000 is not a plain number with at most two decimals`},
	{"an amount of null", storetest.ItemText("ada", 20, `"price":{"regular":null}`), `price.regular: an amount is a number, not null`},
	{"a negative amount", storetest.ItemText("ada", 20, `"price":{"regular":-1}`), `price.regular is negative`},
	{"a huge amount", storetest.ItemText("ada", 20, `"price":{"extended":1000000000000000}`), `price.extended is too large`},
	{"a price whose sum over many sales would overflow", storetest.ItemText("ada", 20, `"price":{"regular":1000000000.01}`), `price.regular is too large`},
	{"an amount beyond all bounds", storetest.ItemText("ada", 20, `"price":{"extended":99999999999999999999}`), `price.extended: the amount 99999999999999999999 is not a plain number with at most two decimals`},
	{"a picture without a host", storetest.ItemText("ada", 20, `"media":{"preview_image":"/a.png"}`), `media.preview_image is not a web address that begins with https:// or http://`},
	{"a screenshot that is a script", storetest.ItemText("ada", 20, `"media":{"screenshots":["javascript:x"]}`), `media.screenshots is not a web address that begins with https:// or http://`},
	{"a tag that is a number", storetest.ItemText("ada", 20, `"tags":["a",5]`), `tags.1: unexpected JSON number`},
	{"too many options", storetest.ItemText("ada", 20, `"options":[`+strings.TrimSuffix(strings.Repeat(`"a",`, 101), ",")+`]`), `options: at most 100`},
	{"a currency of four letters", storetest.ItemText("ada", 20, `"currency":"EURO"`), `invalid currency "EURO": use three capital letters, like USD`},

	// Purchases.
	{"a purchase of an unknown item", storetest.PurchaseText("ada", 99, "x1"), `the workspace ada has no item 99; its line must come before its purchases`},
	{"a purchase of another workspace's item", storetest.PurchaseText("ada", 3, "x2"), `the workspace ada has no item 3; its line must come before its purchases`},
	{"a purchase of an unknown workspace", storetest.PurchaseText("eve", 1, "x3"), `unknown workspace "eve"; its line must come before`},
	{"a purchase without a code", storetest.PurchaseText("ada", 1, ""), `a purchase code is 1 to 128 printable ASCII characters`},
	{"a code of spaces", storetest.PurchaseText("ada", 1, "   "), `a purchase code is 1 to 128 printable ASCII characters`},
	{"a code that is too long", storetest.PurchaseText("ada", 1, strings.Repeat("x", 129)), `a purchase code is 1 to 128 printable ASCII characters`},
	{"a code beyond ASCII", storetest.PurchaseText("ada", 1, "é"), `a purchase code is 1 to 128 printable ASCII characters; this one contains the character "é" (U+00E9)`},
	{"a code with NUL", storetest.PurchaseText("ada", 1, `a\u0000b`), `a purchase code is 1 to 128 printable ASCII characters; this one contains a control character (U+0000)`},
	{"a code that another workspace has", storetest.PurchaseText("ada", 1, "bobs-CODE"), `this purchase code already exists; codes are unique in the store and do not depend on upper and lower case`},
	{"a license in other letters", storetest.PurchaseText("ada", 1, "x4", `"license_type":"regular"`), `invalid license_type "regular": use Regular or Extended`},
	{"a purchase without a license", storetest.PurchaseText("ada", 1, "x5", `"license_type":null`), `invalid license_type "": use Regular or Extended`},
	{"an unknown state", storetest.PurchaseText("ada", 1, "x6", `"state":"lost"`), `invalid state "lost": use active, refunded, charged_back or revoked`},
	{"an active purchase with the time of a change", storetest.PurchaseText("ada", 1, "x7", `"state_at":"2026-01-01T00:00:00Z"`), `state_at: omit it for an active purchase`},
	{"a purchase without a date", storetest.PurchaseText("ada", 1, "x8", `"date":null`), `date is missing`},
	{"a date that does not exist", storetest.PurchaseText("ada", 1, "x9", `"date":"2025-02-29T00:00:00Z"`), `date: "2025-02-29T00:00:00Z" is not a timestamp like 2006-01-02T15:04:05Z`},
	{"a negative price", storetest.PurchaseText("ada", 1, "x10", `"price":-0.01`), `price is negative`},
	{"a huge price", storetest.PurchaseText("ada", 1, "x10", `"price":1000000000.01`), `price is too large`},
	{"a purchase without a currency", storetest.PurchaseText("ada", 1, "x11", `"currency":null`), `invalid currency "": use three capital letters, like USD`},
	{"a buyer without a host", storetest.PurchaseText("ada", 1, "x12", `"buyer":{"email":"buyer"}`), `buyer.email "buyer" is not an e-mail address`},
	{"a buyer with NUL", storetest.PurchaseText("ada", 1, "x13", `"buyer":{"name":"a\u0000b"}`), `buyer.name contains a NUL character or is not UTF-8`},
	{"a buyer that is a string", storetest.PurchaseText("ada", 1, "x14", `"buyer":"me"`), `buyer: unexpected JSON string`},

	// Keys.
	{"a key of an unknown workspace", storetest.KeyText("eve", "a"), `unknown workspace "eve"; its line must come before`},
	{"a key without a name", storetest.KeyText("ada", ""), `name is 1 to 100 characters without spaces around them and without control characters`},
	{"a key's name with a space before it", storetest.KeyText("ada", " a"), `name is 1 to 100 characters without spaces around them and without control characters`},
	{"an unknown class", storetest.KeyText("ada", "a", `"class":"admin"`), `class: it is "secret" or "publishable"`},
	{"a secret key bound to an item", storetest.KeyText("ada", "a", `"item_id":1`), `item_id: only a publishable key is bound to an item`},
	{"a publishable key without an item", storetest.KeyText("ada", "a", `"class":"publishable"`), `A publishable key needs one item`},
	{"a publishable key of an unknown item", storetest.KeyText("ada", "a", `"class":"publishable"`, `"item_id":99`), `No item 99 in the workspace ada`},
	{"a publishable key of another workspace's item", storetest.KeyText("ada", "a", `"class":"publishable"`, `"item_id":3`), `No item 3 in the workspace ada`},
	{"a key that is too short", storetest.KeyText("ada", "a", `"key":"1234567"`), `key: expected 8 to 256 visible ASCII characters`},
	{"a key that is too long", storetest.KeyText("ada", "a", `"key":"`+strings.Repeat("k", 257)+`"`), `key: expected 8 to 256 visible ASCII characters`},
	{"a key with a space", storetest.KeyText("ada", "a", `"key":"1234 5678"`), `key: expected 8 to 256 visible ASCII characters`},
	{"a key of ours that was mistyped", storetest.KeyText("ada", "a", `"key":"csk_0000000000000000000000000000000000000000000000000"`), `key: wrong checksum of a key that begins with csk_ or csp_`},
	{"an earlier key that is too short", storetest.KeyText("ada", "a", `"previous_key":"1234567"`), `previous_key: expected 8 to 256 visible ASCII characters`},
	{"a key that another workspace's has", storetest.KeyText("ada", "a", `"key":"bobs-key-0123456789"`), `another key has this value`},
	{"a key that another of the workspace has", storetest.KeyText("ada", "a", `"key":"adas-key-0123456789"`), `another key has this value`},
	{"a key that another had before", storetest.KeyText("ada", "a", `"key":"adas-old-0123456789"`), `another key has this value`},
	{"an earlier key that another has", storetest.KeyText("ada", "a", `"previous_key":"bobs-key-0123456789"`), `another key has this value`},
}

func TestEveryBadLineIsRefusedWithItsReason(t *testing.T) {
	file := before
	first := strings.Count(file, "\n") + 1
	for _, c := range badLines {
		file += c.line + "\n"
	}
	file += storetest.PurchaseText("ada", 2, "after") // without a line end
	storetest.Engines(t, func(t *testing.T, f *storetest.Fixture) {
		report, bad := f.ImportText(t, file, transfer.ImportOptions{SkipBad: true})
		reasons := map[int]string{}
		for _, r := range bad {
			reasons[r.Line] = r.Reason
		}
		for i, c := range badLines {
			got, refused := reasons[first+i]
			if !refused {
				t.Errorf("%s: accepted", c.name)
			} else if got != c.reason {
				t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.reason)
			}
		}
		if len(bad) != len(badLines) || report.Bad != len(badLines) {
			t.Errorf("%d bad lines, %d reported, want %d", len(bad), report.Bad, len(badLines))
		}
		if !report.Written || report.Lines != strings.Count(file, "\n")+1 {
			t.Errorf("report %+v", report)
		}
		for table, want := range map[string]int64{"workspaces": 2, "items": 3, "purchases": 3, "keys": 2} {
			expect.Equalf(t, f.Rows(t, table), want, "%s of the good lines", table)
		}
	})
}

// Each bad line by itself keeps the whole file from being written.
func TestOneBadLineKeepsTheFileOut(t *testing.T) {
	storetest.Engines(t, func(t *testing.T, f *storetest.Fixture) {
		for _, i := range []int{0, slices.IndexFunc(badLines, func(c struct{ name, line, reason string }) bool {
			return c.name == "a code that another workspace has" // found when all lines are known
		})} {
			report, bad := f.ImportText(t, before+badLines[i].line+"\n", transfer.ImportOptions{})
			if report.Written || len(bad) != 1 || report.Bad != 1 {
				t.Errorf("%s: report %+v, bad %v", badLines[i].name, report, bad)
			}
			for _, table := range []string{"workspaces", "items", "purchases", "keys", "changes", "audit"} {
				if got := f.Rows(t, table); got != 0 {
					t.Errorf("%s: %d rows of %s were written", badLines[i].name, got, table)
				}
			}
		}
	})
}

// seeds are lines of every kind, good and bad.
func seeds() []string {
	list := strings.Split(strings.TrimSpace(before), "\n")
	for _, c := range badLines {
		if len(c.line) < 1000 {
			list = append(list, c.line)
		}
	}
	return append(list,
		storetest.PurchaseText("ada", 1, "a-code", `"supported_until":"2025-04-27 12:00:00"`, `"state":"revoked"`, `"state_at":"2024-09-22T05:02:13.000000+02:00"`),
		storetest.KeyText("ada", "a", `"class":"publishable"`, `"item_id":2`, `"key":"another-key-01"`, `"previous_key":"earlier-key-01"`, `"expires_at":"2030-01-01T00:00:00Z"`),
		storetest.ItemText("ada", 1, `"media":{"preview_video":"https://v.example","screenshots":[]}`, `"options":null`, `"price":{"extended":0.1}`),
		storetest.WorkspaceText("eve", `"profile":{"social_links":[]}`, `"balance":-90000000000.99`))
}

// FuzzImportFile passes the importer a whole file of anybody's making, on a real
// database. It never fails: every line is good or has a reason.
func FuzzImportFile(f *testing.F) {
	list := seeds()
	for i := range list {
		f.Add([]byte(strings.Join(list[i:min(i+5, len(list))], "\r\n")))
	}
	f.Add([]byte("\ufeff\n\n" + before))
	s := storetest.Prepared(f, dbtest.New(f, dbtest.SQLite))
	s.MustImport(f, before)
	f.Fuzz(func(t *testing.T, file []byte) {
		numbers := map[int]bool{}
		report := must.Get(s.Transfer.Import(t.Context(), storetest.Operator, bytes.NewReader(file), transfer.ImportOptions{DryRun: true, SkipBad: true,
			Bad: func(line int, reason string, _ []byte) {
				if line < 1 || reason == "" || numbers[line] {
					t.Errorf("line %d: %q, told before: %t", line, reason, numbers[line])
				}
				numbers[line] = true
			}}))(t)
		moved := func(m transfer.Moved) int64 { return m.New + m.Changed + m.Same + m.Repeated }
		good := moved(report.Workspaces) + moved(report.Keys) + moved(report.Items) + moved(report.Purchases) + moved(report.LicenseKeys) + moved(report.Licenses)
		if report.Bad != len(numbers) || good != int64(report.Lines-report.Bad) {
			t.Errorf("%+v, %d lines refused", report, len(numbers))
		}
	})
}

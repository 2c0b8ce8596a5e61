package settings_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

func TestValuesAreCheckedWhenTheyAreSet(t *testing.T) {
	long := strings.Repeat("x", 300)
	cases := []struct {
		name, key, text, want string // want "" and refused: the text is refused
		refused               bool
	}{
		{"a name", "appName", "Tuneful", "Tuneful", false},
		{"spaces around a name go", "appName", "  Tuneful ", "Tuneful", false},
		{"a name in another script", "appName", "Müşik ♪", "Müşik ♪", false},
		{"markup is only text", "appName", "<script>alert(1)</script>", "<script>alert(1)</script>", false},
		{"no name", "appName", "", "", false},
		{"a name of two lines", "appName", "a\nb", "", true},
		{"a name with NUL", "appName", "a\x00b", "", true},
		{"a name that is no UTF-8", "appName", "a\xffb", "", true},
		{"a name that is too long", "appName", long, "", true},
		{"a client id", "idpIosClientId", "1234-ab.apps.idp.example", "1234-ab.apps.idp.example", false},
		{"no client id", "idpIosClientId", " ", "", false},
		{"a client id with a scheme", "idpAndroidClientId", "https://apps.idp.example", "", true},
		{"a client id with a space", "idpAndroidClientId", "1234 ab", "", true},
		{"push on as 1", "pushEnabled", "1", "true", false},
		{"push on as true", "pushEnabled", "true", "true", false},
		{"push off as 0", "pushEnabled", "0", "false", false},
		{"push off as FALSE", "pushEnabled", "FALSE", "false", false},
		{"push as yes", "pushEnabled", "yes", "", true},
		{"push as nothing", "pushEnabled", "", "", true},
		{"push as 2", "pushEnabled", "2", "", true},
		{"a push app", "pushAppId", "b2f7f966-d8cc-11e4-bed1-df8f05be55ba", "b2f7f966-d8cc-11e4-bed1-df8f05be55ba", false},
		{"a push app with markup", "pushAppId", "<b>x</b>", "", true},
		{"a timeline app that is too long", "pushTimelineAppId", long, "", true},
		{"a stream app", "streamAppId", "970ca35de60c44645bbae8a215061b33", "970ca35de60c44645bbae8a215061b33", false},
		{"a stream app with a quote", "streamAppId", `a"b`, "", true},
		{"a scheme", "messengerUrlScheme", "my-app.2", "my-app.2", false},
		{"a scheme with ://", "messengerUrlScheme", "myapp://", "", true},
		{"a scheme with a path", "messengerUrlScheme", "myapp/x", "", true},
		{"a scheme in capitals", "messengerUrlScheme", "MyApp", "", true},
		{"a scheme that begins with a digit", "messengerUrlScheme", "2app", "", true},
		{"the web's scheme", "messengerUrlScheme", "https", "", true},
		{"a scheme that runs code", "messengerUrlScheme", "javascript", "", true},
		{"a package id", "messengerAndroidPackageId", "com.example.Chat_1", "com.example.Chat_1", false},
		{"a package id of one part", "messengerAndroidPackageId", "chat", "", true},
		{"a package id with a dash", "messengerAndroidPackageId", "com.ex-ample.chat", "", true},
		{"a package id part that begins with a digit", "messengerAndroidPackageId", "com.1example.chat", "", true},
		{"a package id with an empty part", "messengerAndroidPackageId", "com..chat", "", true},
		{"a domain", "messengerDomain", "Chat.Example.COM", "chat.example.com", false},
		{"a domain with umlauts", "messengerDomain", "müsik.example", "xn--msik-0ra.example", false},
		{"a domain with a scheme", "messengerDomain", "https://chat.example.com", "", true},
		{"a domain with a path", "messengerDomain", "chat.example.com/x", "", true},
		{"a domain with a port", "messengerDomain", "chat.example.com:443", "", true},
		{"a domain with an account", "messengerDomain", "me@chat.example.com", "", true},
		{"an address for a domain", "messengerDomain", "192.0.2.1", "", true},
		{"a domain of one part", "messengerDomain", "localhost", "", true},
		{"a domain with an empty part", "messengerDomain", "chat..example", "", true},
		{"selling on as true", "iapEnabled", "true", "1", false},
		{"selling off as 0", "iapEnabled", "0", "0", false},
		{"selling as on", "iapEnabled", "on", "", true},
		{"sandbox on as 1", "iapSandboxEnabled", "1", "1", false},
		{"an application id", "iapStorePackageName", "com.example.app", "com.example.app", false},
		{"an application id with a space", "iapStorePackageName", "com.example. app", "", true},
		{"a push account", "iapPushServiceAccount", " Push@Project.iam.gserviceaccount.com ", "push@project.iam.gserviceaccount.com", false},
		{"no push account", "iapPushServiceAccount", "", "", false},
		{"a person's address", "iapPushServiceAccount", "ada@mail.example", "", true},
		{"a push account with a name", "iapPushServiceAccount", "Push <push@project.iam.gserviceaccount.com>", "", true},
		{"two push accounts", "iapPushServiceAccount", "a@b.iam.gserviceaccount.com,c@d.iam.gserviceaccount.com", "", true},
		{"an audience", "iapPushAudience", "https://site.example/api-addons/iap/notifications/store", "https://site.example/api-addons/iap/notifications/store", false},
		{"an audience that is not an address", "iapPushAudience", "countersign", "countersign", false},
		{"no audience", "iapPushAudience", " ", "", false},
		{"an audience with a space", "iapPushAudience", "a b", "", true},
		{"an audience that is too long", "iapPushAudience", strings.Repeat("x", 513), "", true},
		{"a pull subscription", "iapPullSubscription", "projects/tuneful/subscriptions/play", "projects/tuneful/subscriptions/play", false},
		{"no pull subscription", "iapPullSubscription", " ", "", false},
		{"a topic in place of a subscription", "iapPullSubscription", "projects/tuneful/topics/play", "", true},
		{"test purchases of some", "iapTestPurchases", "AllowList", "allowlist", false},
		{"no word on test purchases is the default", "iapTestPurchases", "", "allow", false},
		{"test purchases as a switch", "iapTestPurchases", "1", "", true},
		{"test users in their one form", "iapTestUsers", "7,12\n ada@site.example ,, 7", "7, 12, ada@site.example", false},
		{"no test users", "iapTestUsers", " ", "", false},
		{"a test user with NUL", "iapTestUsers", "7, a\x00b", "", true},
		{"a test user that is too long", "iapTestUsers", long, "", true},
		{"too many test users", "iapTestUsers", manyUsers(101), "", true},
		{"purchases without a user are refused", "iapClaimPolicy", "strict", "strict", false},
		{"an unknown rule for purchases without a user", "iapClaimPolicy", "last_claim", "", true},
		{"purchases move if nobody loses by it", "iapTransferPolicy", "transfer_if_inactive", "transfer_if_inactive", false},
		{"one-time products", "iapOneTimeProducts", " gold_pass = 30,gold_forever=lifetime, ", "gold_forever=lifetime, gold_pass=30", false},
		{"no one-time products", "iapOneTimeProducts", "", "", false},
		{"a one-time product without what it grants", "iapOneTimeProducts", "gold_pass", "", true},
		{"a one-time product for no days", "iapOneTimeProducts", "gold_pass=0", "", true},
		{"a one-time product for too many days", "iapOneTimeProducts", "gold_pass=3661", "", true},
		{"a one-time product with a wrong id", "iapOneTimeProducts", "Gold=30", "", true},
		{"a one-time product twice", "iapOneTimeProducts", "gold=30, gold=lifetime", "", true},
		{"purchases of another backend go to the first user", "iapUnknownAccountPolicy", "first_verified", "first_verified", false},
		{"purchases of another backend wait for the site by default", "iapUnknownAccountPolicy", "", "ask", false},
		{"an unknown rule for them", "iapUnknownAccountPolicy", "allow", "", true},
		{"a leeway in hours", "iapLeewayHours", " 012 ", "12", false},
		{"no leeway at all", "iapLeewayHours", "0", "0", false},
		{"a leeway of more than a day", "iapLeewayHours", "25", "", true},
		{"a leeway that is not whole", "iapLeewayHours", "1.5", "", true},
		{"an unknown rule for moving", "iapTransferPolicy", "always", "", true},
		{"an unknown key", "appname", "x", "", true},
		{"a key that would hurt", "__proto__", "x", "", true},
		{"an empty key", "", "x", "", true},
	}
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		for _, c := range cases {
			before := f.Draft(t)
			_, err := f.Settings.Set(t.Context(), operator, settings.Edit{}, map[string]string{c.key: c.text})
			after := f.Draft(t)
			if c.refused {
				addontest.WantFields(t, err, c.key)
				addontest.WantError(t, err, "settings_invalid")
				expect.Equalf(t, after.Revision, before.Revision, "%s: something was written", c.name)
				continue
			}
			got, _ := after.Get(c.key)
			if err != nil || got.Value != c.want {
				t.Errorf("%s: %q, %v; want %q", c.name, got.Value, err, c.want)
			}
		}
	})
}

// manyUsers is a list of n users.
func manyUsers(n int) string {
	users := make([]string, n)
	for i := range users {
		users[i] = strconv.Itoa(i)
	}
	return strings.Join(users, ",")
}

func TestOneBadValueRefusesAll(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		before, written := f.Draft(t), f.Everything(t)
		_, err := f.Settings.Set(t.Context(), operator, settings.Edit{}, map[string]string{
			settings.KeyAppName: "Tuneful", settings.KeyMessengerURLScheme: "myapp://", settings.KeyMessengerDomain: "https://x", "nonsense": "1",
		})
		addontest.WantFields(t, err, settings.KeyMessengerURLScheme, settings.KeyMessengerDomain, "nonsense")
		if f.Everything(t) != written || f.Draft(t).Revision != before.Revision {
			t.Error("something was written")
		}
	})
}

func TestJSONValuesHaveTheirTypes(t *testing.T) {
	cases := []struct {
		name, key, value, want string
		refused                bool
	}{
		{"text as a string", "appName", `"T\u00fcne"`, "Tüne", false},
		{"text as a number", "appName", `5`, "", true},
		{"text as a boolean", "appName", `true`, "", true},
		{"text as an object", "appName", `{}`, "", true},
		{"text as null is left as it is", "appName", `null`, "My app", false},
		{"a switch as a boolean", "pushEnabled", `true`, "true", false},
		{"a switch as a number", "pushEnabled", `0`, "false", false},
		{"a switch as a string", "iapEnabled", `"1"`, "1", false},
		{"a switch as a list", "iapEnabled", `[1]`, "", true},
		{"a switch as 1.0", "iapEnabled", `1.0`, "", true},
		{"a map as an object", "iapProductMapJson", `{"store": {}}`, `{"store":{}}`, false},
		{"a map as a string", "iapProductMapJson", `"{\"store\": {}}"`, `{"store":{}}`, false},
		{"a map as a number", "iapProductMapJson", `7`, "", true},
		{"a map with a product twice", "iapProductMapJson", `{"store":{"a":1,"a":1}}`, "", true},
		{"a choice as a string", "iapTestPurchases", `"deny"`, "deny", false},
		{"a choice as a boolean", "iapTestPurchases", `true`, "", true},
		{"broken JSON", "appName", `"x`, "", true},
		{"an unknown key", "nonsense", `"x"`, "", true},
	}
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		for _, c := range cases {
			_, err := f.Settings.SetJSON(t.Context(), program, settings.Edit{}, map[string]json.RawMessage{c.key: json.RawMessage(c.value)})
			if c.refused {
				addontest.WantFields(t, err, c.key)
				continue
			}
			if got := f.Value(t, c.key); err != nil || got != c.want {
				t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
			}
			f.MustSet(t, map[string]string{settings.KeyAppName: "My app"})
		}
	})
}

func TestSettingsPrintTheirTypesInJSON(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		s := f.Draft(t)
		for key, want := range map[string]string{
			settings.KeyAppName: `"My app"`, settings.KeyPushEnabled: `false`, iap.KeyEnabled: `"0"`, iap.KeyProductMap: `{"store":{}}`,
			iap.KeyServiceAccount: `null`, settings.KeyStreamAppID: `""`,
		} {
			one, _ := s.Get(key)
			expect.Equalf(t, string(one.JSON()), want, "%s is printed as", key)
		}
	})
}

func TestEditsOfTwoPeopleDontOverwriteEachOther(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		seen := f.Draft(t).Revision
		must.Get(f.Settings.Set(t.Context(), user, settings.Edit{Revision: seen}, map[string]string{settings.KeyAppName: "Ana's"}))(t)
		now, err := f.Settings.Set(t.Context(), operator, settings.Edit{Revision: seen}, map[string]string{settings.KeyAppName: "Bob's"})
		addontest.WantError(t, err, "settings_changed")
		if e := new(countersign.Error); !errors.As(err, &e) || e.Kind != countersign.KindPrecondition {
			t.Errorf("error %v", err)
		}
		one, _ := now.Get(settings.KeyAppName)
		if one.Value != "Ana's" || now.Revision == seen {
			t.Errorf("what came back is %q at revision %d", one.Value, now.Revision)
		}
		_, err = f.Settings.Publish(t.Context(), operator, seen, "")
		addontest.WantError(t, err, "settings_changed")
		if _, err := f.Settings.Set(t.Context(), operator, settings.Edit{Revision: now.Revision}, map[string]string{settings.KeyAppName: "Bob's"}); err != nil {
			t.Error(err)
		}
	})
}

// Of many who saw the same revision, one is served.
func TestManyEditsOfOneRevision(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		seen := f.Draft(t).Revision
		var work sync.WaitGroup
		won := make(chan string, 8)
		for i := range cap(won) {
			work.Go(func() {
				name := "name " + string(rune('a'+i))
				_, err := f.Settings.Set(t.Context(), operator, settings.Edit{Revision: seen}, map[string]string{settings.KeyAppName: name})
				if err == nil {
					won <- name
				} else if addontest.CodeOf(err) != "settings_changed" {
					t.Error(err)
				}
			})
		}
		work.Wait()
		if len(won) != 1 || f.Value(t, settings.KeyAppName) != <-won {
			t.Error("not exactly one of them was served")
		}
	})
}

func TestSettingTheSameValueChangesNothing(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		before, log := f.Draft(t), f.Audits(t)
		after := f.MustSet(t, map[string]string{settings.KeyAppName: " My app ", settings.KeyPushEnabled: "0"})
		if after.Revision != before.Revision || len(f.Audits(t)) != len(log) {
			t.Error("a change was written down")
		}
	})
}

func TestEveryChangeIsWrittenDown(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		start := len(f.Audits(t))
		must.Get(f.Settings.Set(ctx, user, settings.Edit{}, map[string]string{settings.KeyAppName: "Tuneful", settings.KeyPushEnabled: "1"}))(t)
		must.Get(f.Settings.AddKey(ctx, program, settings.Edit{}, "theme", settings.TypeText, "dark"))(t)
		must.Get(f.Settings.RemoveKey(ctx, operator, settings.Edit{}, "theme", nil))(t)
		want := []string{
			"ana@site.example settings.set appName [page]: My app -> Tuneful",
			"ana@site.example settings.set pushEnabled [page]: false -> true",
			"1 First pair settings.add theme [api]:  -> dark",
			"tester settings.remove theme [cli]: dark -> ",
		}
		if got := f.Audits(t)[start:]; !slices.Equal(got, want) {
			t.Errorf("written down:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// The message names a few of many wrong values; Fields has all.
func TestMessageOfManyWrongValuesIsShort(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		changes := map[string]string{}
		for i := range 300 {
			changes[strings.Repeat("k", i+1)] = "x"
		}
		_, err := f.Settings.Set(t.Context(), operator, settings.Edit{}, changes)
		e := new(countersign.Error)
		if !errors.As(err, &e) || len(e.Fields) != 300 || len(e.Message) > 1000 {
			t.Errorf("%d fields, a message of %d bytes", len(e.Fields), len(e.Message))
		}
	})
}

// A row of a later version, whose definition this build does not know, is kept and
// neither shown nor served: it may be a private one.
func TestSettingOfALaterVersionIsKeptAndNotServed(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		addontest.Execute(t, f.At, `INSERT INTO settings (name, kind, value) VALUES ('iapLater', 'text', 'not public')`)
		f.MustSet(t, map[string]string{settings.KeyAppName: "Tuneful"})
		f.MustPublish(t, "")
		if _, there := f.Draft(t).Get("iapLater"); there || strings.Contains(string(f.Served(t).JSON), "not public") {
			t.Errorf("it is shown or served: %s", f.Served(t).JSON)
		}
		_, err := f.Settings.Set(t.Context(), operator, settings.Edit{}, map[string]string{"iapLater": "x"})
		addontest.WantFields(t, err, "iapLater")
		_, err = f.Settings.RemoveKey(t.Context(), operator, settings.Edit{}, "iapLater", nil)
		addontest.WantError(t, err, "setting_not_found")
		_, err = f.Settings.AddKey(t.Context(), operator, settings.Edit{}, "iapLater", settings.TypeText, "x")
		addontest.WantError(t, err, "setting_exists")
		must.Get(f.Settings.Rollback(t.Context(), operator, 1, ""))(t)
		rows, err := addontest.Database(t, f.At).Settings(t.Context())
		if err != nil || !slices.Contains(rows, addondb.Setting{Name: "iapLater", Kind: "text", Value: "not public"}) {
			t.Errorf("it was not kept: %+v, %v", rows, err)
		}
	})
}

package settings_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/google/go-cmp/cmp"
)

func TestDefaultsAreServedAfterTheFirstUpdate(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		expect.Equalf(t, string(f.Served(t).JSON), addontest.DefaultsServed, "served")
		expect.Equalf(t, string(f.View(t).JSON), `{"enabled":false,"sandbox_enabled":false,"platforms":{"store":{"enabled":false,"package_name":""}},"products":[]}`, "iap")
	})
}

func TestDraftIsServedOnlyOncePublished(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		f.MustSet(t, map[string]string{settings.KeyAppName: "Tuneful"})
		expect.Equalf(t, string(f.Served(t).JSON), addontest.DefaultsServed, "a draft is served")
		preview := must.Get(f.Settings.Preview(t.Context(), operator))(t)
		f.Clock.Move(60e9)
		p := f.MustPublish(t, "a name")
		want := strings.Replace(addontest.DefaultsServed, "My app", "Tuneful", 1)
		if got := f.Served(t); string(got.JSON) != want || got.Version != 2 || string(preview) != want {
			t.Errorf("served %s, version %d, preview %s", got.JSON, got.Version, preview)
		}
		if p.Version.Number != 2 || p.Version.Note != "a name" || p.Version.Actor != "tester" || !p.Version.At.Equal(addontest.Noon.Add(60e9)) {
			t.Errorf("version %+v", p.Version)
		}
		wantChange := []settings.Change{{Key: settings.KeyAppName, Label: "App name", Before: "My app", After: "Tuneful"}}
		expect.Equal(t, cmp.Diff(wantChange, p.Changes), "")
	})
}

func TestPublishingNothingSaysSo(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		lines := len(f.Audits(t))
		p := f.MustPublish(t, "nothing")
		if !p.Nothing || p.Version.Number != 1 || len(p.Changes) != 0 {
			t.Errorf("%+v", p)
		}
		f.MustSet(t, map[string]string{settings.KeyAppName: "Tuneful"})
		f.MustSet(t, map[string]string{settings.KeyAppName: "My app"})
		if p := f.MustPublish(t, "there and back"); !p.Nothing {
			t.Errorf("%+v", p)
		}
		if list, err := f.Settings.Versions(t.Context(), operator, 0, 0); err != nil || len(list) != 1 {
			t.Errorf("%d versions, %v", len(list), err)
		}
		if got := len(f.Audits(t)); got != lines+2 {
			t.Errorf("%d lines of audit were written, want the two changes", got-lines)
		}
	})
}

func TestRulesBetweenKeysAreCheckedAtPublish(t *testing.T) {
	cases := []struct {
		name     string
		set      map[string]string
		errors   []string
		warnings []string
	}{
		{"push off without ids", map[string]string{"appName": "a"}, nil, nil},
		{"push on without an app id", map[string]string{"pushEnabled": "1"}, []string{"pushAppId"}, []string{"pushTimelineAppId"}},
		{"push on without a timeline id", map[string]string{"pushEnabled": "1", "pushAppId": "a"}, nil, []string{"pushTimelineAppId"}},
		{"push on with both", map[string]string{"pushEnabled": "1", "pushAppId": "a", "pushTimelineAppId": "b"}, nil, nil},
		{"no name", map[string]string{"appName": ""}, nil, []string{"appName"}},
		{"selling without anything", map[string]string{"iapEnabled": "1"}, nil,
			[]string{"iapProductMapJson", "iapProductMapJson", "iapStorePackageName", "iapStoreServiceAccountJson"}},
		{"selling with a product for the paid package", map[string]string{
			"iapEnabled": "1", "iapStorePackageName": "com.example.app", "iapProductMapJson": `{"store":{"gold":1}}`,
		}, nil, []string{"iapStoreServiceAccountJson"}},
		{"a product for the free package only", map[string]string{
			"iapEnabled": "1", "iapStorePackageName": "com.example.app", "iapProductMapJson": `{"store":{"free":2}}`,
		}, nil, []string{"iapProductMapJson", "iapStoreServiceAccountJson"}},
		{"not selling", map[string]string{"iapProductMapJson": `{"store":{"free":2}}`}, nil, nil},
	}
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		f.MustPackage(t, 1, "Gold", true)
		f.MustPackage(t, 2, "Free", false)
		clean := map[string]string{
			"appName": "x", "pushEnabled": "0", "pushAppId": "", "pushTimelineAppId": "", "iapEnabled": "0", "iapStorePackageName": "", "iapProductMapJson": "",
		}
		for _, c := range cases {
			f.MustSet(t, clean)
			f.MustPublish(t, "")
			f.MustSet(t, c.set)
			var errs, warnings []string
			for _, p := range f.Draft(t).Problems {
				if p.Severity == settings.SeverityError {
					errs = append(errs, p.Key)
				} else {
					warnings = append(warnings, p.Key)
				}
			}
			slices.Sort(warnings)
			if !slices.Equal(errs, c.errors) || !slices.Equal(warnings, c.warnings) {
				t.Errorf("%s: errors %q, warnings %q; want %q, %q", c.name, errs, warnings, c.errors, c.warnings)
			}
			before := f.Served(t).Version
			p, err := f.Settings.Publish(t.Context(), operator, 0, "")
			if c.errors != nil {
				addontest.WantFields(t, err, c.errors...)
				expect.Equalf(t, f.Served(t).Version, before, "%s: it was published", c.name)
			} else if err != nil || len(p.Warnings) != len(c.warnings) {
				t.Errorf("%s: %+v, %v", c.name, p, err)
			}
		}
	})
}

func TestEveryVersionIsKept(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		for _, name := range []string{"One", "Two", "Three"} {
			f.MustSet(t, map[string]string{settings.KeyAppName: name})
			f.MustPublish(t, "to "+name)
		}
		list, err := f.Settings.Versions(ctx, operator, 0, 0)
		if err != nil || len(list) != 4 || list[0].Note != "to Three" || list[3].Number != 1 {
			t.Errorf("versions %+v, %v", list, err)
		}
		page, err := f.Settings.Versions(ctx, operator, 4, 2)
		if err != nil || len(page) != 2 || page[0].Number != 3 || page[1].Number != 2 {
			t.Errorf("page %+v, %v", page, err)
		}
		two, err := f.Settings.Version(ctx, operator, 3)
		must.Do(t, err)
		expect.Equal(t, cmp.Diff([]settings.Change{{Key: settings.KeyAppName, Label: "App name", Before: "One", After: "Two"}}, two.Changes), "")
		expect.Equal(t, cmp.Diff([]settings.Change{{Key: settings.KeyAppName, Label: "App name", Before: "Three", After: "Two"}}, two.Back), "")
		if !strings.Contains(string(two.Body), `"appName":"Two"`) {
			t.Errorf("body %s", two.Body)
		}
		first, err := f.Settings.Version(ctx, operator, 1)
		if err != nil || len(first.Changes) != len(settings.Definitions()) || !first.Changes[0].Added {
			t.Errorf("the first version changed %d settings, %v", len(first.Changes), err)
		}
		for _, number := range []int64{0, 5, -1} {
			_, err := f.Settings.Version(ctx, operator, number)
			addontest.WantError(t, err, "version_not_found")
			_, err = f.Settings.Rollback(ctx, operator, number, "")
			addontest.WantError(t, err, "version_not_found")
		}
	})
}

func TestRollbackServesAnEarlierVersionAgain(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		first := f.Served(t)
		f.MustSet(t, map[string]string{settings.KeyAppName: "Two", settings.KeyStreamAppID: "s"})
		must.Get(f.Settings.AddKey(ctx, operator, settings.Edit{}, "theme", settings.TypeText, "dark"))(t)
		f.MustPublish(t, "")
		f.MustSet(t, map[string]string{settings.KeyMessengerDomain: "chat.example.com"}) // waits
		p, err := f.Settings.Rollback(ctx, user, 1, "the new name was wrong")
		if err != nil || p.Version.Number != 3 || p.Version.Restored != 1 || p.Nothing || len(p.Changes) != 3 {
			t.Fatalf("%+v, %v", p, err)
		}
		if got := f.Served(t); !bytes.Equal(got.JSON, first.JSON) {
			t.Errorf("served %s", got.JSON)
		}
		s := f.Draft(t)
		if _, there := s.Get("theme"); there || f.Value(t, settings.KeyAppName) != "My app" || f.Value(t, settings.KeyStreamAppID) != "" {
			t.Errorf("the draft did not follow: %+v", s.List)
		}
		if f.Value(t, settings.KeyMessengerDomain) != "chat.example.com" || len(s.Changes) != 1 {
			t.Errorf("what waited is lost; %d changes wait", len(s.Changes))
		}
		if p, err := f.Settings.Rollback(ctx, user, 1, ""); err != nil || !p.Nothing {
			t.Errorf("again: %+v, %v", p, err)
		}
		if p, err := f.Settings.Rollback(ctx, user, 2, ""); err != nil || p.Version.Number != 4 {
			t.Errorf("forward: %+v, %v", p, err)
		}
		if !strings.Contains(string(f.Served(t).JSON), `"theme":"dark"`) {
			t.Error("the own key did not come back")
		}
		lines := f.Audits(t)
		if want := "ana@site.example settings.rollback version 3 [page]: version 2 -> version 3, with the values of version 1"; !slices.Contains(lines, want) {
			t.Errorf("audit %q", lines)
		}
	})
}

// A version whose product map names a package that is gone can't come back.
func TestRollbackIsRefusedWhenAPackageIsGone(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		f.MustPackage(t, 7, "Gold", true)
		f.MustSet(t, map[string]string{iap.KeyProductMap: `{"store":{"gold":7}}`})
		f.MustPublish(t, "")
		f.MustSet(t, map[string]string{iap.KeyProductMap: ""})
		f.MustPublish(t, "")
		must.Do(t, f.IAP.RemovePackage(ctx, operator, 7))
		before := f.Everything(t)
		_, err := f.Settings.Rollback(ctx, operator, 2, "")
		addontest.WantFields(t, err, iap.KeyProductMap)
		expect.Equalf(t, f.Everything(t), before, "something changed")
	})
}

func TestNotesAreTextOfLimitedLength(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		f.MustSet(t, map[string]string{settings.KeyAppName: "Two"})
		for _, note := range []string{strings.Repeat("x", 501), "a\x00b", "a\xffb", "a\x1b[2J"} {
			_, err := f.Settings.Publish(t.Context(), operator, 0, note)
			addontest.WantFields(t, err, "note")
		}
		if p := f.MustPublish(t, " <b>two</b>\nlines "); p.Version.Note != "<b>two</b>\nlines" {
			t.Errorf("note %q", p.Version.Note)
		}
	})
}

func TestAnswersAreReadOnce(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		f.Serve(t)
		f.View(t)
		if one, two := f.Served(t), f.Served(t); one != two || !json.Valid(one.JSON) {
			t.Errorf("%s was read twice", one.JSON)
		}
		if one, two := f.View(t), f.View(t); one != two || !json.Valid(one.JSON) {
			t.Errorf("%s was read twice", one.JSON)
		}
	})
}

// The writer's own process serves the new version before Publish returns.
func TestPublishIsServedAtOnce(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		f.Serve(t)
		for i := range 20 {
			name := strings.Repeat("n", i+1)
			f.MustSet(t, map[string]string{settings.KeyAppName: name})
			f.MustPublish(t, "")
			if got := string(f.Served(t).JSON); !strings.Contains(got, `"appName":"`+name+`"`) {
				t.Fatalf("after publish %d, served %s", i, got)
			}
		}
	})
}

// Both put tasks that repeat, and would otherwise wait for each other.
func TestAPublishBesideTheStartOfAServer(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		for i := range 30 {
			f.MustSet(t, map[string]string{settings.KeyAppName: strings.Repeat("n", i+1)})
			var start sync.WaitGroup
			start.Go(func() { expect.NoError(t, f.Members.Start(t.Context())) })
			f.MustPublish(t, "")
			start.Wait()
		}
	})
}

// Readers see one whole version or the other, never a mixture, and never an older
// one than before.
func TestReadersDuringPublishes(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		f.Serve(t)
		stop := make(chan struct{})
		var work sync.WaitGroup
		for range 4 {
			work.Go(func() {
				last := int64(0)
				for {
					select {
					case <-stop:
						return
					default:
					}
					p, err := f.Settings.Published(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					if p.Version < last || (p.Version > 1 && !strings.Contains(string(p.JSON), `"appName":"`+strings.Repeat("n", int(p.Version))+`"`)) {
						t.Errorf("version %d after %d: %s", p.Version, last, p.JSON)
						return
					}
					last = p.Version
				}
			})
		}
		for i := range 10 {
			f.MustSet(t, map[string]string{settings.KeyAppName: strings.Repeat("n", i+2)})
			f.MustPublish(t, "")
		}
		close(stop)
		work.Wait()
	})
}

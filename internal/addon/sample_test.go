package addon_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/sample"
	"github.com/countersign/countersign/internal/addon/settings"
)

// The demo goes through the rules without a complaint and ends with everything
// done.
func TestDemoFillsAnAddon(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		demo := sample.NewDemo()
		f.MustSet(t, demo.AppSettings)
		for _, k := range demo.OwnKeys {
			if _, err := f.Settings.AddKey(ctx, operator, settings.Edit{}, k.Key, settings.Type(k.Type), k.Value); err != nil {
				t.Fatal(err)
			}
		}
		f.MustPublish(t, demo.AppNote)
		for _, p := range demo.Packages {
			if err := f.IAP.AddPackage(ctx, operator, iap.Package(p)); err != nil {
				t.Fatal(err)
			}
		}
		for id, pkg := range demo.Products {
			if _, err := f.Settings.AddProduct(ctx, operator, 0, id, pkg); err != nil {
				t.Fatal(err)
			}
		}
		file, err := sample.ServiceAccount()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Settings.SetServiceAccount(ctx, operator, 0, file); err != nil {
			t.Fatal(err)
		}
		f.MustSet(t, demo.IAPSettings)
		published := f.MustPublish(t, demo.IAPNote)
		if len(published.Warnings) != 1 || published.Warnings[0].Key != iap.KeySandboxEnabled {
			t.Errorf("warnings %+v", published.Warnings)
		}
		var config countersign.IAPConfig
		if err := json.Unmarshal(f.View(t).JSON, &config); err != nil || !config.Platforms.Store.Enabled || len(config.Products) != 2 {
			t.Errorf("%+v, %v", config, err)
		}
		if !strings.Contains(string(f.Served(t).JSON), `"appName":"Tuneful"`) {
			t.Errorf("served %s", f.Served(t).JSON)
		}
		list, err := f.Setup.Checklist(ctx, operator)
		for _, task := range list {
			if !task.Done && task.ID != "license" { // which takes a purchase
				t.Errorf("%+v is not done", task)
			}
		}
		if err != nil {
			t.Error(err)
		}
	})
}

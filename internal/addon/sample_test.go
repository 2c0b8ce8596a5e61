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
	"github.com/countersign/countersign/internal/must"
)

// The demo goes through the rules without a complaint and ends with everything
// done.
func TestDemoFillsAnAddon(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		demo := sample.NewDemo()
		f.MustSet(t, demo.AppSettings)
		for _, k := range demo.OwnKeys {
			must.Get(f.Settings.AddKey(ctx, operator, settings.Edit{}, k.Key, settings.Type(k.Type), k.Value))(t)
		}
		f.MustPublish(t, demo.AppNote)
		for _, p := range demo.Packages {
			must.Do(t, f.IAP.AddPackage(ctx, operator, iap.Package(p)))
		}
		for id, pkg := range demo.Products {
			must.Get(f.Settings.AddProduct(ctx, operator, 0, id, pkg))(t)
		}
		file := must.Get(sample.ServiceAccount())(t)
		must.Get(f.Settings.SetServiceAccount(ctx, operator, 0, file))(t)
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

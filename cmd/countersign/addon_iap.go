package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/health"
	"github.com/spf13/cobra"
)

func newAddonIAP(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "iap", Short: "In-app purchases: show, set, service-account, product, subscribers, check, simulate, test",
		Long: `In-app purchases. Changes are saved in the same draft as the app's settings. Apps receive
them after: countersign addon settings publish -m NOTE`,
	},
		on(a.withAddon, &cobra.Command{Use: "show", Short: "Show the draft of the in-app purchases, and what apps receive", Args: cli.Args()}, a.showIAP),
		newIAPSet(a), newIAPServiceAccount(a), newIAPProduct(a), newIAPCheck(a), newIAPSimulate(a), newIAPSubscribers(a),
		newIAPTest(a))
}

// iapKeys are the settings of in-app purchases that may stand in a command.
func iapKeys() []string {
	var keys []string
	for _, d := range settings.Definitions() {
		if d.Area == settings.AreaIAP && !d.Secret {
			keys = append(keys, d.Key)
		}
	}
	return keys
}

// iapView is what is known of in-app purchases.
type iapView struct {
	Settings       []settingView       `json:"settings"`
	ServiceAccount *serviceAccountView `json:"service_account"` // the draft's
	Products       []productView       `json:"products"`        // the draft's
	// Config is what GET /api-addons/iap/config answers.
	Config    json.RawMessage `json:"config"`
	Lines     []cli.Line      `json:"-" card:"1,"`
	draft     settings.Draft
	published *iap.Published
}

func readIAP(ctx context.Context, s *addon.Addon) (iapView, error) {
	v := iapView{Settings: []settingView{}}
	var errs [4]error
	var account iap.ServiceAccountFacts
	v.draft, errs[0] = s.Settings.Draft(ctx, operator())
	account, _, errs[1] = s.IAP.ServiceAccount(ctx, operator())
	v.Products, errs[2] = readProducts(ctx, s)
	v.published, errs[3] = s.IAP.Published(ctx)
	if err := errors.Join(errs[:]...); err != nil {
		return v, err
	}
	v.Config = v.published.JSON
	if account.Set {
		shown := viewServiceAccount(account)
		v.ServiceAccount = &shown
	}
	for _, one := range v.draft.List {
		if one.Area == settings.AreaIAP {
			v.Settings = append(v.Settings, viewSetting(one))
		}
	}
	return v, nil
}

func (a *app) showIAP(ctx context.Context, s *addon.Addon, _ []string) error {
	v, err := readIAP(ctx, s)
	if err != nil {
		return err
	}
	for _, one := range v.draft.List {
		if one.Area == settings.AreaIAP && one.Key != iap.KeyProductMap {
			v.Lines = append(v.Lines, cli.Line{Label: one.Key, Value: one.Value + waiting(one)})
		}
	}
	products := make([]string, len(v.Products))
	for n, p := range v.Products {
		products[n] = fmt.Sprintf("%s: %d %s", p.StoreProductID, p.PackageID, p.PackageName)
	}
	mapped, _ := v.draft.Get(iap.KeyProductMap)
	store := map[bool]string{true: "on", false: "off"}[v.published.Config.Platforms.Store.Enabled]
	v.Lines = append(v.Lines, cli.Lines("Products", strings.Join(products, ", ")+waiting(mapped), "In-app purchases for apps", store)...)
	return a.Show(v, nil)
}

// waiting marks a value that is not published yet.
func waiting(s settings.Setting) string {
	if s.Changed {
		return " (not published yet)"
	}
	return ""
}

func newIAPSet(a *app) *cobra.Command {
	return on(a.withAddon, &cobra.Command{
		Use: "set KEY VALUE", Short: "Change a setting of the in-app purchases in the draft", Args: cli.Args("key", "value"), ValidArgsFunction: a.fromAddon(settingKeys(func(s settings.Setting) bool { return s.Area == settings.AreaIAP && !s.Secret })),
		Example: `  countersign addon iap set iapEnabled 1
  countersign addon iap set iapStorePackageName com.yourname.app
  countersign addon iap set iapProductMapJson '{"store":{"gold_monthly":1}}'`,
		PreRunE: func(c *cobra.Command, args []string) error {
			if err := refuseServiceAccount(c, args); err != nil {
				return err
			}
			if keys := iapKeys(); !slices.Contains(keys, args[0]) {
				return cli.Usage(c, fmt.Sprintf("unknown setting of in-app purchases %q%s: use %s", cli.Safe(args[0]), cli.DidYouMean(args[0], keys), strings.Join(keys, ", ")))
			}
			return nil
		},
	}, func(ctx context.Context, s *addon.Addon, args []string) error {
		return a.setSetting(ctx, s, settings.Edit{}, args[0], args[1])
	})
}

func newIAPProduct(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "product", Short: "Map store products to packages: list, add, remove",
	},
		listAll(a, a.withAddon, "List the draft's products", "No products. Add one with: countersign addon iap product add STORE_ID PACKAGE_ID",
			func(p productView) productView { return p }, readProducts),
		newProductAdd(a),
		on(a.withAddon, &cobra.Command{Use: "remove STORE_ID", Short: "Remove a store product from the draft", Args: cli.Args("product's id at the store"), ValidArgsFunction: first(a.fromAddon(productIDs))}, func(ctx context.Context, s *addon.Addon, args []string) error {
			draft, err := s.Settings.RemoveProduct(ctx, operator(), 0, args[0])
			return a.showRemoved(args[0], fmt.Sprintf("Removed the product %s from the draft.", args[0]), draft, err)
		}))
}

// productView is a line of the product map.
type productView struct {
	StoreProductID string `json:"store_product_id" row:"1,PRODUCT"`
	PackageID      int64  `json:"package_id" row:"2,PACKAGE"`
	PackageName    string `json:"package_name" row:"3,NAME,text"`
	// Kind is "subscription" or "one_time", and Days what a one-time product grants, nil for ever.
	Kind string `json:"kind"`
	Days *int64 `json:"days,omitempty"`
	Sold string `json:"-" row:"4,KIND"`
}

func viewProduct(p iap.Product, packageName string) productView {
	v := productView{StoreProductID: p.StoreID, PackageID: p.PackageID, PackageName: packageName, Kind: "subscription", Sold: "subscription"}
	if p.OneTime {
		v.Kind, v.Sold = "one_time", "once, for ever"
	}
	if p.Days > 0 {
		v.Days, v.Sold = &p.Days, fmt.Sprintf("once, for %d days", p.Days)
	}
	return v
}

// readProducts reads the draft's product map.
func readProducts(ctx context.Context, s *addon.Addon) ([]productView, error) {
	products, err := s.IAP.Products(ctx, operator())
	if err != nil {
		return nil, err
	}
	packages, err := allPackages(ctx, s)
	names := map[int64]string{}
	for _, p := range packages {
		names[p.ID] = p.Name
	}
	views := make([]productView, len(products))
	for i, p := range products {
		views[i] = viewProduct(p, names[p.PackageID])
	}
	return views, err
}

func newProductAdd(a *app) *cobra.Command {
	var id, days int64
	var lifetime, once bool
	c := on(a.withAddon, &cobra.Command{
		Use: "add STORE_ID PACKAGE_ID", Short: "Map a store product to a package, in the draft", Args: cli.Args("product's id at the store", "package's id"),
		Long: `Map a store product to a package, in the draft. It is a subscription, unless one of the flags
says what it grants when it is bought once.`,
		Example: `  countersign addon iap product add gold_monthly 1
  countersign addon iap product add gold_forever 1 --lifetime
  countersign addon iap product add gold_pass 1 --days 30`, PreRunE: func(c *cobra.Command, args []string) error {
			if lifetime && c.Flags().Changed("days") {
				return cli.Usage(c, "a product is for days or for ever: use one of --days and --lifetime")
			}
			once = lifetime || c.Flags().Changed("days")
			if problem := iap.CheckDays(days); once && !lifetime && problem != "" {
				return cli.Usage(c, problem)
			}
			return parseID("package", 1, &id)(c, args)
		},
	}, func(ctx context.Context, s *addon.Addon, args []string) (err error) {
		var draft settings.Draft
		if once {
			draft, err = s.Settings.AddOneTimeProduct(ctx, operator(), 0, args[0], id, days)
		} else {
			draft, err = s.Settings.AddProduct(ctx, operator(), 0, args[0], id)
		}
		return a.showSetting(draft, iap.KeyProductMap, err)
	})
	c.Flags().Int64Var(&days, "days", 0, "the product is bought once, and grants this `number` of days")
	c.Flags().BoolVar(&lifetime, "lifetime", false, "the product is bought once, and grants the package for ever")
	return c
}

// serviceAccountView is what may be told of a service account.
type serviceAccountView struct {
	Type        string                `json:"type"`
	ClientEmail string                `json:"client_email" card:"1,Account"`
	Project     string                `json:"project" card:"2,Project"`
	Fingerprint string                `json:"fingerprint" card:"3,Key"`
	SetAt       countersign.Timestamp `json:"set_at" card:"4,Set"`
}

func viewServiceAccount(f iap.ServiceAccountFacts) serviceAccountView {
	return serviceAccountView{f.Type, f.ClientEmail, f.Project, f.Fingerprint, countersign.At(f.SetAt)}
}

func newIAPServiceAccount(a *app) *cobra.Command {
	var remove bool
	c := &cobra.Command{
		Use: "service-account FILE", Short: "Save the store's service account in the draft, encrypted; FILE is - for stdin",
		Long: `Save the store's service account in the draft, encrypted. FILE is the JSON file from the
store's cloud console, or - for stdin. It is never printed again.`,
		Args: func(c *cobra.Command, args []string) error {
			if remove {
				return cli.Args()(c, args)
			}
			return cli.Args("file")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if remove {
				return a.withAddon(c, a.removeServiceAccount)
			}
			file, err := a.ReadInput(args[0], "service account", "put it into a file")
			if err != nil {
				return err
			}
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error { return a.setServiceAccount(ctx, s, file) })
		},
	}
	c.Flags().BoolVar(&remove, "remove", false, "remove the service account from the draft")
	return c
}

func (a *app) setServiceAccount(ctx context.Context, s *addon.Addon, file []byte) error {
	facts, err := s.Settings.SetServiceAccount(ctx, operator(), 0, file)
	if err != nil {
		return err
	}
	draft, err := s.Settings.Draft(ctx, operator())
	err = a.Show(viewServiceAccount(facts), err)
	a.sayWaiting(draft, err)
	return err
}

func (a *app) removeServiceAccount(ctx context.Context, s *addon.Addon) error {
	if err := s.Settings.RemoveServiceAccount(ctx, operator(), 0); err != nil {
		return err
	}
	draft, err := s.Settings.Draft(ctx, operator())
	return a.showRemoved(iap.KeyServiceAccount, "No service account in the draft.", draft, err)
}

// newIAPTest checks what is set up here, or one step of the set-up at the store.
func newIAPTest(a *app) *cobra.Command {
	steps := iapSteps()
	return on(a.withAddon, &cobra.Command{
		Use: "test [STEP]", Short: "Check whether in-app purchases are set up (exit code 4 if not), or one step of it", ValidArgs: steps,
		Long: `Check whether in-app purchases are set up: the published settings, the service account and
the draft. What was not checked is "skipped": the app store, which is not contacted, and what
the draft does not have.

STEP checks one step of the set-up at Google alone, with the published settings:

  key, token, api, package, voided, products   contact the store
  catalogue                                    contacts it, and compares the product map
  notifications, testers                       say what has arrived`,
		Example: "  countersign addon iap test\n  countersign addon iap test api",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 1 && !slices.Contains(steps, args[0]) {
				return cli.Usage(c, fmt.Sprintf("unknown step %q%s: use %s", cli.Safe(args[0]), cli.DidYouMean(args[0], steps), strings.Join(steps, ", ")))
			}
			if len(args) == 1 {
				return nil
			}
			return cli.Args()(c, args)
		},
	}, func(ctx context.Context, s *addon.Addon, args []string) error {
		if len(args) == 1 {
			return a.checkStep(ctx, s, args[0])
		}
		return a.checkIAP(ctx, s, args)
	})
}

// checkIAP prints whether in-app purchases are on for apps, and what is missing.
func (a *app) checkIAP(ctx context.Context, s *addon.Addon, _ []string) error {
	i, err := readIAP(ctx, s)
	if err != nil {
		return err
	}
	apps, err := testApps(ctx, s, i)
	if err != nil {
		return err
	}
	account, err := testServiceAccount(ctx, s)
	if err != nil {
		return err
	}
	findings := append([]health.Finding{apps}, account...)
	for _, p := range i.problems() {
		findings = append(findings, health.Finding{Name: "draft", Level: health.Warn, What: p.Text, Fix: p.Command()})
	}
	findings = append(findings, health.Finding{
		Name: "store", Level: health.Skipped, What: "The app store was not contacted", Why: "It may need a day or more to accept a new service account.",
	})
	err = a.printFindings([]report{{service: "addon", findings: findings}})
	if err == nil && apps.Level == health.Skipped {
		return cli.Fail(cli.ExitNo, "iap_off", "")
	}
	return err
}

// problems are those of the draft that are about in-app purchases.
func (i iapView) problems() (list []settings.Problem) {
	for _, p := range i.draft.Problems {
		if p.Key == iap.KeyServiceAccount || slices.Contains(iapKeys(), p.Key) {
			list = append(list, p)
		}
	}
	return list
}

// testApps reports whether in-app purchases are on for apps, and what would make them.
func testApps(ctx context.Context, s *addon.Addon, i iapView) (health.Finding, error) {
	const name = "apps"
	if i.published.Config.Platforms.Store.Enabled {
		return health.Finding{Name: name, Level: health.OK, What: "In-app purchases are on for apps"}, nil
	}
	draft, err := s.IAP.Preview(ctx, operator())
	if err != nil {
		return health.Finding{}, err
	}
	off := health.Finding{Name: name, Level: health.Fail, What: "In-app purchases are off for apps"}
	switch problems := i.problems(); {
	case draft.Config.Platforms.Store.Enabled:
		off.What, off.Why, off.Fix = "In-app purchases are off for apps until the draft is published", "The draft is complete.", "countersign addon settings publish -m NOTE"
	case !draft.Config.Enabled:
		off.Level, off.What, off.Fix = health.Skipped, "In-app purchases are off: iapEnabled is 0", "countersign addon iap set iapEnabled 1"
	case len(problems) > 0:
		off.Why, off.Fix = "They are on when the package name and the service account are set, a product is mapped, and everything is published.", problems[0].Command()
	default:
		off.Why, off.Fix = "The service account can't be read.", "countersign addon iap service-account FILE"
	}
	return off, nil
}

// testServiceAccount checks the service account of the draft, without contacting the
// store.
func testServiceAccount(ctx context.Context, s *addon.Addon) ([]health.Finding, error) {
	const name = "service account"
	checks, _, err := s.IAP.TestServiceAccount(ctx, operator())
	if fault.HasCode(err, "service_account_not_found") {
		return []health.Finding{{Name: name, Level: health.Skipped, What: "No service account in the draft"}}, nil
	}
	findings := make([]health.Finding, len(checks))
	for i, c := range checks {
		findings[i] = health.Finding{Name: name, Level: health.OK, What: c.Text}
		if !c.OK {
			findings[i].Level, findings[i].Fix = health.Fail, "countersign addon iap service-account FILE"
		}
	}
	return findings, err
}

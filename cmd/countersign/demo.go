package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/iap"
	addonsample "github.com/countersign/countersign/internal/addon/sample"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/requests"
	"github.com/countersign/countersign/internal/store/sample"
	"github.com/countersign/countersign/internal/store/transfer"
	"github.com/countersign/countersign/internal/web"
	"github.com/spf13/cobra"
)

type demoFlags struct{ listen, addonListen, keep, media string }

func newDemo(a *app) *cobra.Command {
	var flags demoFlags
	c := &cobra.Command{
		Use: "demo", Short: "Try it: serve a store and an addon with sample data", Args: cli.Args(),
		Long: `Serve a store and an addon with sample data, until Ctrl-C.

The store's API keys are public. Do not make it reachable from other machines.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flag("data").Changed || c.Flag("db").Changed {
				return cli.Usage(c, "a demo uses its own data folder; name it with --keep, or serve your store with: countersign store serve")
			}
			var wrong wrongFlags
			wrong.note("--listen", checkListen(flags.listen))
			wrong.note("--addon-listen", checkListen(flags.addonListen))
			if err := wrong.err(c); err != nil {
				return err
			}
			a.Quiet = true // what the servers do at their start is of no interest here
			return a.demo(c.Context(), flags)
		},
	}
	c.Flags().StringVar(&flags.listen, "listen", defaultListen, "`address` of the store")
	c.Flags().StringVar(&flags.addonListen, "addon-listen", defaultAddonListen, "`address` of the addon")
	c.Flags().StringVar(&flags.keep, "keep", "", "keep the data in this `folder` (default a temporary one, deleted at the end)")
	c.Flags().StringVar(&flags.media, "media", "", "`URL` of the folder or bucket of uploaded files (default a folder in the data)")
	return c
}

func (a *app) demo(ctx context.Context, flags demoFlags) error {
	dir := a.Path(flags.keep)
	if flags.keep == "" {
		temporary, err := os.MkdirTemp("", "countersign-demo-")
		if err != nil {
			return folderError(os.TempDir(), "used", err)
		}
		defer os.RemoveAll(temporary)
		dir = temporary
	}
	of, ofSite := location{dir: dir, media: flags.media}, location{dir: filepath.Join(dir, "addon")}
	if err := errors.Join(a.check(ctx, storeLocation, of), a.check(ctx, addonLocation, ofSite)); err != nil {
		return err
	}
	options := serverOptions{listen: flags.listen, listenFlag: "--listen", failLimit: defaultFailLimit, log: web.LogOff, keep: requests.DefaultKeep}
	s := &storeServer{server: a.newServer(options)}
	defer s.close()
	if err := s.open(ctx, of); err != nil {
		return err
	}
	options.listen, options.listenFlag, options.allowPrivate = flags.addonListen, "--addon-listen", loopback // where its store is
	site := &addonServer{server: a.newServer(options)}
	defer site.close()
	if err := site.open(ctx, ofSite); err != nil {
		return err
	}
	receiver, err := newDemoSite(ctx)
	if err != nil {
		return err
	}
	defer receiver.listener.Close()
	filled, err := fillDemos(ctx, s, site, dir, a.Now())
	if err == nil {
		err = receiver.connect(ctx, site.addon)
	}
	if ctx.Err() != nil {
		return nil // stopped before it had begun
	}
	if err != nil {
		return err
	}
	if err := a.printDemo(filled, flags); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	work := group.New(ctx, s.log)
	work.Go("history", func(ctx context.Context) error { // the demo is ready without it, and it is whole when the demo is kept
		return a.fillHistory(context.WithoutCancel(ctx), s.store)
	})
	work.Go("members", func(ctx context.Context) error { return fillMembers(context.WithoutCancel(ctx), site.addon) })
	work.Go("site", receiver.run)
	work.Go("store", ending(stop, s.run))
	work.Go("addon", ending(stop, site.run))
	return work.Wait()
}

// loopback is this machine.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// demoView is what a filled demo has to show.
type demoView struct {
	Folder         string `json:"folder"` // of the data
	StoreURL       string `json:"store_url"`
	StoreAdminLink string `json:"store_admin_link"` // signs its administrator in, once
	APIKey         string `json:"api_key"`
	PurchaseCode   string `json:"purchase_code"`
	RefundedCode   string `json:"refunded_code"`
	EmptyAPIKey    string `json:"empty_api_key"`
	AddonURL       string `json:"addon_url"`
	AddonAdminLink string `json:"addon_admin_link"` // signs its administrator in, once
	AddonAPIKey    string `json:"addon_api_key"`
	AddonAPISecret string `json:"addon_api_secret"`
	report         transfer.ImportReport
}

func fillDemos(ctx context.Context, s *storeServer, site *addonServer, dir string, now time.Time) (demoView, error) {
	d := sample.NewDemo()
	v := demoView{
		Folder: dir, StoreURL: urlOf(s.listener), APIKey: d.APIKey, PurchaseCode: d.PurchaseCode, RefundedCode: d.RefundedCode, EmptyAPIKey: d.EmptyAPIKey, AddonURL: urlOf(site.listener),
	}
	var err error
	if v.report, err = fillDemo(ctx, s.store, dir, now); err != nil {
		return v, err
	}
	if v.StoreAdminLink, err = demoLink(ctx, s.store.Instance.People, storeLocation, v.StoreURL, d.AdminEmail, "a store", dir); err != nil {
		return v, err
	}
	if err := v.fillAddon(ctx, site.addon, dir); err != nil {
		return v, err
	}
	return v, site.addon.Licenses.SetStore(ctx, operator(), v.StoreURL, "")
}

// fillDemo imports the sample shop with its well-known keys; its last sales are those of now. A store of somebody
// else's is left alone.
func fillDemo(ctx context.Context, s *store.Store, dir string, now time.Time) (transfer.ImportReport, error) {
	there, err := s.Workspaces(ctx, operator())
	if err != nil {
		return transfer.ImportReport{}, err
	}
	isDemo := func(w store.Workspace) bool { return w.Account.Username == sample.NewDemo().Workspace }
	if len(there) > 0 && !slices.ContainsFunc(there, isDemo) {
		return transfer.ImportReport{}, notADemo(dir, "a store")
	}
	report, err := s.Transfer.Import(ctx, operator(), sample.Reader(sample.Options{Keys: true, Until: now.Truncate(time.Hour)}), transfer.ImportOptions{})
	if err == nil && !report.Written {
		err = fmt.Errorf("demo: %d lines of the sample store are not valid", report.Bad)
	}
	return report, err
}

func (a *app) printDemo(v demoView, flags demoFlags) error {
	if a.JSON {
		return a.PrintJSON(v)
	}
	home := "The data is in a temporary folder, which is deleted at the end. To keep it, use --keep DIR."
	if flags.keep != "" {
		home = "The data is in " + cli.Safe(flags.keep) + " and is kept."
	}
	all := func(m transfer.Moved) string { return cli.Thousands(m.New + m.Changed + m.Same) }
	a.Print(`Demo ready. %[1]s

  Store    %[2]s   (signs in to the store's pages once, within 10 minutes)
           %[3]s/   (start page: license files, API reference, manuals)
  API key  %[4]s   (of the workspace %[13]s, works only in this demo)
  Code     %[5]s (valid)   %[6]s (refunded)

  Addon    %[7]s   (signs in to the addon's pages once, within 10 minutes)
           %[8]s/api-addons/app/settings   (what the app receives)

Try it:
  curl -H 'X-Api-Key: %[4]s' \
       -d purchase_code=%[5]s %[3]s/api/purchases/validation

To sign in to the store's pages again:
  countersign store user sign-in-link %[14]s --data %[15]s

%[9]s workspaces, %[10]s items, %[11]s purchases, %[12]d days of calls. Press Ctrl+C to stop.
`, home, v.StoreAdminLink, v.StoreURL, v.APIKey, v.PurchaseCode, v.RefundedCode, v.AddonAdminLink, v.AddonURL,
		all(v.report.Workspaces), all(v.report.Items), all(v.report.Purchases), sample.CallDays,
		sample.NewDemo().Workspace, sample.NewDemo().AdminEmail, cli.Safe(v.Folder))
	return nil
}

// fillAddon sets an addon up and fills it with the sample, where that was not
// done before. An addon of somebody else's is left alone.
func (v *demoView) fillAddon(ctx context.Context, s *addon.Addon, dir string) error {
	if _, err := s.Setup.Update(ctx, operator(), nil); err != nil {
		return err
	}
	var err error
	if v.AddonAdminLink, err = demoLink(ctx, s.Instance.People, addonLocation, v.AddonURL, addonsample.NewDemo().AdminEmail, "an addon", dir); err != nil {
		return err
	}
	if err := fillSettings(ctx, s); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	pairs, err := s.Credentials.List(ctx, operator())
	if err != nil || len(pairs) == 0 {
		return err
	}
	_, pair, err := s.Credentials.Reveal(ctx, operator(), pairs[0].ID)
	v.AddonAPIKey, v.AddonAPISecret = pair.Key, pair.Secret
	return err
}

// demoLink returns a link that signs in the demo's administrator of a service at url, what. Before the first one, it
// creates one whose password nobody knows.
func demoLink(ctx context.Context, p *people.People, of locationFlags, url, email, what, dir string) (string, error) {
	users, err := p.Users(ctx, operator())
	if err != nil {
		return "", err
	}
	switch is := func(u people.User) bool { return u.Email == email }; {
	case slices.ContainsFunc(users, is):
	case len(users) > 0:
		return "", notADemo(dir, what)
	default:
		if _, err := p.CreateAdministrator(ctx, operator(), email, rand.Text()); err != nil {
			return "", err
		}
	}
	token, _, err := p.NewSignInLink(ctx, operator(), email)
	return of.signInLink(url, token), err
}

// notADemo is the error of a folder with a service of somebody else's.
func notADemo(dir, what string) error {
	return cli.Fail(cli.ExitConflict, "not_a_demo", fmt.Sprintf("%s holds %s that is not a demo; name another folder with --keep", dir, what))
}

// fillSettings fills an addon of which nothing was published yet. It can be run
// again after it was interrupted.
func fillSettings(ctx context.Context, s *addon.Addon) error {
	now, err := s.Settings.Draft(ctx, operator())
	if err != nil {
		return err
	}
	d := addonsample.NewDemo()
	if now.Published.Number == 1 {
		if err := fillApp(ctx, s, d, now); err != nil {
			return err
		}
		now.Published.Number++
	}
	if now.Published.Number == 2 {
		return fillIAP(ctx, s, d)
	}
	return nil
}

func fillApp(ctx context.Context, s *addon.Addon, d addonsample.Demo, now settings.Draft) error {
	if _, err := s.Settings.Set(ctx, operator(), settings.Edit{}, d.AppSettings); err != nil {
		return err
	}
	for _, k := range d.OwnKeys {
		if _, there := now.Get(k.Key); there {
			continue
		}
		if _, err := s.Settings.AddKey(ctx, operator(), settings.Edit{}, k.Key, settings.Type(k.Type), k.Value); err != nil {
			return err
		}
	}
	_, err := s.Settings.Publish(ctx, operator(), 0, d.AppNote)
	return err
}

func fillIAP(ctx context.Context, s *addon.Addon, d addonsample.Demo) error {
	for _, p := range d.Packages {
		if err := s.IAP.AddPackage(ctx, operator(), iap.Package(p)); err != nil && !fault.HasCode(err, "package_exists") {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(d.Products)) {
		if _, err := s.Settings.AddProduct(ctx, operator(), 0, id, d.Products[id]); err != nil {
			return err
		}
	}
	if _, err := s.Settings.Set(ctx, operator(), settings.Edit{}, d.IAPSettings); err != nil {
		return err
	}
	file, err := addonsample.ServiceAccount()
	if err != nil {
		return err
	}
	if _, err := s.Settings.SetServiceAccount(ctx, operator(), 0, file); err != nil {
		return err
	}
	_, err = s.Settings.Publish(ctx, operator(), 0, d.IAPNote)
	return err
}

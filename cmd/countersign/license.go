package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/license"
	"github.com/spf13/cobra"
)

func newLicense(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "license", Short: "Licenses of purchases for domains: list, show, issue, move, revoke",
	}, newLicenseList(a),
		on(a.withStore, &cobra.Command{Use: "show ID", Short: "Show a license", Args: cli.Args("license's id")}, func(ctx context.Context, s *store.Store, args []string) error {
			l, err := s.Licensing.Show(ctx, operator(), args[0])
			return a.Show(viewLicense(l), err)
		}),
		newLicenseIssue(a), newLicenseMove(a),
		on(a.withStore, &cobra.Command{
			Use: "revoke ID", Short: "Revoke a license: it is added to the list that clients read", Args: cli.Args("license's id"),
			Long: `Revoke a license: it is added to the list that clients read, and its buyer can't get another
one until you issue it. Clients that never fetch the list still start.`,
		}, func(ctx context.Context, s *store.Store, args []string) error {
			l, err := s.Licensing.Revoke(ctx, operator(), args[0])
			return a.Show(viewLicense(l), err)
		}))
}

type licenseView struct {
	LicenseID    string                 `json:"license_id" row:"1,ID" card:"1,Id"`
	State        string                 `json:"state"`
	PurchaseCode string                 `json:"purchase_code" row:"4,CODE" card:"5,Code"`
	Workspace    string                 `json:"workspace" card:"6,Workspace"`
	ItemID       int64                  `json:"item_id" row:"5,ITEM"`
	LicenseType  string                 `json:"license_type" row:"6,LICENSE" card:"8,License"`
	Domain       string                 `json:"domain" row:"2,DOMAIN,text" card:"3,Domain"`
	Free         bool                   `json:"free" card:"4,Test domain"`
	IssuedAt     countersign.Timestamp  `json:"issued_at" row:"7,ISSUED" card:"9,Issued"`
	EndedAt      *countersign.Timestamp `json:"ended_at" row:"8,ENDED" card:"10,Ended"`
	// License is the file's text, for the commands that make one.
	License    string `json:"license,omitempty" card:"11,Text,optional"`
	StateWords string `json:"-" row:"3,STATE" card:"2,State"`
	Item       string `json:"-" card:"7,Item"`
	File       string `json:"-" card:"11,File,optional"` // where the text was written to
}

func viewLicense(l licensing.License) licenseView {
	state := licenseState(l)
	return licenseView{
		LicenseID: l.License.ID, State: state, PurchaseCode: l.Code, Workspace: l.Workspace, ItemID: l.ItemID,
		LicenseType: l.Purchase.License, Domain: license.Domain{Name: l.Domain, Wildcard: l.Wildcard}.String(), Free: l.Free,
		IssuedAt: l.IssuedAt, EndedAt: cli.OrNull(l.EndedAt),
		StateWords: strings.ReplaceAll(state, "_", " "), Item: strconv.FormatInt(l.ItemID, 10) + "  " + l.ItemName,
	}
}

// licenseState is active, how the license ended, or what became of its purchase.
func licenseState(l licensing.License) string {
	switch {
	case l.Ended != "":
		return string(l.Ended)
	case l.State != store.StateActive:
		return "purchase " + string(l.State)
	}
	return "active"
}

func newLicenseList(a *app) *cobra.Command {
	var filter licensing.Filter
	c := on(a.withStore, &cobra.Command{
		Use: "list", Short: "List licenses, newest first", Args: cli.Args(),
		PreRunE: func(c *cobra.Command, _ []string) (err error) {
			if filter.Limit < 0 || filter.Item < 0 || filter.Purchase < 0 {
				return cli.Usage(c, "--limit, --item and --id can't be negative")
			}
			if filter.Code != "" && filter.Purchase != 0 {
				return cli.Usage(c, "use --code or --id, not both")
			}
			filter.Code, err = a.purchaseCode(c.Context(), filter.Code)
			return err
		},
	}, func(ctx context.Context, s *store.Store, _ []string) error {
		return listNewest(a, filter.Limit, "No such license.", func(limit int, add func(licenseView) error) error {
			filter.Limit = limit
			return s.Licensing.List(ctx, operator(), filter, func(l licensing.License) error { return add(viewLicense(l)) })
		})
	})
	fs := c.Flags()
	a.workspaceFlag(c, &filter.Workspace, "only licenses of the workspace with this `username`")
	a.itemFlag(c, &filter.Item, "only licenses of the item with this `id`")
	fs.StringVar(&filter.Code, "code", "", "only licenses of the purchase with this `code`, - for stdin")
	fs.Int64Var(&filter.Purchase, "id", 0, "only licenses of the purchase with this `id`")
	_ = c.RegisterFlagCompletionFunc("id", a.fromStore(purchaseIDs))
	limitFlags(c, &filter.Limit)
	return a.Listing(c)
}

// licenseFlags are the flags of the commands that make a license's text.
type licenseFlags struct{ domain, baseURL, out string }

func (f *licenseFlags) register(c *cobra.Command) *cobra.Command {
	fs := c.Flags()
	fs.StringVar(&f.domain, "domain", "", "the `domain` of the site, like shop.example (required)")
	fs.String("base-url", "", "the store's own `URL`, the issuer in the license (default: the name of the signing key; "+envURL+")")
	fs.StringVar(&f.out, "out", "", "write the license to this `file`, which must not exist, in place of printing it")
	c.PreRunE = f.check
	return c
}

func (f *licenseFlags) check(c *cobra.Command, args []string) error {
	if err := cli.Require("domain")(c, args); err != nil {
		return err
	}
	var err error
	f.baseURL, err = baseURL(c, "base-url")
	return err
}

// showSigned prints a license with its text, or writes the text to the file that
// was asked for.
func (a *app) showSigned(l licensing.Signed, flags licenseFlags, err error) error {
	v := viewLicense(l.License)
	switch {
	case err != nil:
		return err
	case flags.out == "":
		v.License = l.Text
	default:
		v.File, err = flags.out, a.writeLicense(flags.out, l.Text+"\n")
	}
	return a.Show(v, err)
}

// writeLicense writes a file that must not exist.
func (a *app) writeLicense(path, text string) error {
	const next = "; the license was issued. Repeat the command with another --out to write it"
	switch err := a.writeNew(path, []byte(text), 0o644); {
	case os.IsExist(err):
		return cli.Fail(cli.ExitConflict, "file_exists", path+" already exists and was not changed"+next)
	case err != nil:
		return cli.Fail(cli.ExitFailed, "file", fmt.Sprintf("%s can't be written (%v)%s", path, fault.FileReason(err), next))
	}
	return nil
}

func newLicenseIssue(a *app) *cobra.Command {
	var flags licenseFlags
	return flags.register(a.onPurchase(&cobra.Command{
		Use: "issue CODE --domain D", Short: "Issue the license of a purchase for a domain and print it",
		Long: `Issue the license of a purchase for a domain and print it. An existing license is printed
again.

The item's limit of domains applies here too. If the operator had revoked a license of the
purchase, its buyer may request licenses again.`,
		Example: "  countersign store license issue 7c0f3b1e-5d2a-4c44-9b1e-000000000001 --domain shop.example --out license.jwt\n" +
			"  countersign store license issue - --domain shop.example < code.txt",
	}, func(ctx context.Context, s *store.Store, code string) error {
		l, err := s.Licensing.Issue(ctx, operator(), flags.baseURL, code, flags.domain)
		return a.showSigned(l, flags, err)
	}))
}

func newLicenseMove(a *app) *cobra.Command {
	var flags licenseFlags
	return flags.register(on(a.withStore, &cobra.Command{
		Use: "move ID --domain D", Short: "Move a license to another domain and print the new one", Args: cli.Args("license's id"),
		Long: `Move a license to another domain and print the new one. The old one goes on the list of
revoked licenses. It does not count as a move of the buyer.`,
	}, func(ctx context.Context, s *store.Store, args []string) error {
		l, err := s.Licensing.Reassign(ctx, operator(), flags.baseURL, args[0], flags.domain)
		return a.showSigned(l, flags, err)
	}))
}

func newLicenseKey(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "license-key", Short: "Keys that sign licenses: list, rotate",
	},
		listAll(a, a.withStore, "List the signing keys, oldest first", "No license key. The first license creates one.", viewLicenseKey,
			func(ctx context.Context, s *store.Store) ([]licensing.Key, error) {
				return s.Licensing.Keys(ctx, operator())
			}),
		newLicenseKeyRotate(a))
}

// licenseKeyView is a key for licenses: its public part.
type licenseKeyView struct {
	KeyID     string                 `json:"kid" row:"1,KID" card:"1,Kid"`
	Public    string                 `json:"x" card:"2,Public"`
	State     string                 `json:"state" row:"2,STATE" card:"3,State"`
	CreatedAt countersign.Timestamp  `json:"created_at" row:"3,CREATED" card:"4,Created"`
	RetiredAt *countersign.Timestamp `json:"retired_at" row:"4,RETIRED"`
}

func viewLicenseKey(k licensing.Key) licenseKeyView {
	state := "earlier"
	if k.Current() {
		state = "current"
	}
	return licenseKeyView{k.ID, base64.RawURLEncoding.EncodeToString(k.Public), state, k.CreatedAt, cli.OrNull(k.RetiredAt)}
}

func newLicenseKeyRotate(a *app) *cobra.Command {
	var dropEarlier bool
	c := on(a.withStore, &cobra.Command{
		Use: "rotate", Short: "Create a new key that signs licenses from now on", Args: cli.Args(),
		Long: `Create a new key that signs licenses from now on. Licenses signed with earlier
keys remain valid. Apps contain the key set of their store. Build them with the new one (from
/.well-known/jwks.json) before they receive licenses of the new key.

--drop-earlier removes the earlier keys from the key set, for example after a theft. Every
license issued so far is then no longer valid with the new key set. Buyers have to get theirs
again, which uses no domain.`,
	}, func(ctx context.Context, s *store.Store, _ []string) error {
		if dropEarlier {
			if err := a.Confirm(ctx, "Invalidate all licenses issued so far?"); err != nil {
				return err
			}
		}
		k, err := s.Licensing.RotateKey(ctx, operator(), dropEarlier)
		return a.Show(viewLicenseKey(k), err)
	})
	c.Flags().BoolVar(&dropEarlier, "drop-earlier", false, "remove the earlier keys from the key set; licenses signed with them are no longer valid")
	return c
}

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/license"
	"github.com/spf13/cobra"
)

func newLicense(a *app) *cobra.Command {
	return newGroup(&cobra.Command{
		Use: "license", Short: "Licenses of purchases for domains: list, show, issue, move, revoke", SuggestionsMinimumDistance: 2,
	}, newLicenseList(a), newLicenseShow(a), newLicenseIssue(a), newLicenseMove(a), newLicenseRevoke(a))
}

// licenseJSON is a license as --json prints it.
type licenseJSON struct {
	LicenseID    string                 `json:"license_id"`
	State        string                 `json:"state"`
	PurchaseCode string                 `json:"purchase_code"`
	Workspace    string                 `json:"workspace"`
	ItemID       int64                  `json:"item_id"`
	LicenseType  string                 `json:"license_type"`
	Domain       string                 `json:"domain"`
	Free         bool                   `json:"free"`
	IssuedAt     countersign.Timestamp  `json:"issued_at"`
	EndedAt      *countersign.Timestamp `json:"ended_at"`
	// License is the file's text, for the commands that make one.
	License string `json:"license,omitempty"`
}

func jsonOfLicense(l licensing.License) licenseJSON {
	return licenseJSON{
		LicenseID: l.License.ID, State: licenseState(l), PurchaseCode: l.Code, Workspace: l.Workspace, ItemID: l.ItemID,
		LicenseType: l.Purchase.License, Domain: licenseDomain(l), Free: l.Free, IssuedAt: l.IssuedAt, EndedAt: orNull(l.EndedAt),
	}
}

// licenseWords is the state for people to read.
func licenseWords(l licensing.License) string { return strings.ReplaceAll(licenseState(l), "_", " ") }

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

func licenseDomain(l licensing.License) string {
	return license.Domain{Name: l.Domain, Wildcard: l.Wildcard}.String()
}

func licensePairs(l licensing.License) []pair {
	return []pair{
		{"Id", l.License.ID}, {"State", licenseWords(l)}, {"Domain", licenseDomain(l)}, {"Test domain", yesNo(l.Free)},
		{"Code", l.Code}, {"Workspace", l.Workspace}, {"Item", strconv.FormatInt(l.ItemID, 10) + "  " + l.ItemName},
		{"License", l.Purchase.License}, {"Issued", second(l.IssuedAt)}, {"Ended", second(l.EndedAt)},
	}
}

// printLicense prints a license without its text.
func (a *app) printLicense(l licensing.License) error {
	return a.printCard(jsonOfLicense(l), licensePairs(l)...)
}

// licenseFlags are the flags of the commands that make a license's text.
type licenseFlags struct{ domain, baseURL, out string }

func (f *licenseFlags) register(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVar(&f.domain, "domain", "", "the `domain` of the site, like shop.example (required)")
	fs.StringVar(&f.baseURL, "base-url", "", "the store's own `URL`, which the license names as its issuer (default the name of the key that signs it)")
	fs.StringVar(&f.out, "out", "", "write the license to this `file`, which must not exist, in place of printing it")
}

// check understands the flags.
func (f *licenseFlags) check(c *cobra.Command) error {
	if err := require(c, "domain"); err != nil {
		return err
	}
	var err error
	if f.baseURL, err = parseBaseURL(f.baseURL); err != nil {
		return usage(c, "--base-url: "+err.Error())
	}
	return nil
}

// printSigned prints a license with its text, or writes the text to the file that
// was asked for.
func (a *app) printSigned(l licensing.Signed, flags licenseFlags) error {
	object, pairs := jsonOfLicense(l.License), licensePairs(l.License)
	if flags.out == "" {
		object.License = l.Text
		return a.printCard(object, append(pairs, pair{"Text", l.Text})...)
	}
	if err := writeLicense(flags.out, l.Text+"\n"); err != nil {
		return err
	}
	return a.printCard(object, append(pairs, pair{"File", flags.out})...)
}

// writeLicense writes a file that must not exist.
func writeLicense(path, text string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = file.WriteString(text)
		if closed := file.Close(); err == nil {
			err = closed
		}
	}
	switch {
	case os.IsExist(err):
		return fail(exitConflict, "file_exists", fmt.Sprintf("%s exists and was left as it is; the license was issued all the same: give another name with --out, and the same command writes it", path))
	case err != nil:
		return fail(exitFailed, "file", fmt.Sprintf("%s can't be written (%v); the license was issued all the same: give another name with --out, and the same command writes it", path, reason(err)))
	}
	return nil
}

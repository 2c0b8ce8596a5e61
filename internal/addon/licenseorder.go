package addon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/license"
)

// metaStore is the name under which the database keeps the address of the store
// that licenses come from.
const metaStore = "addon_store"

// maxCode is the longest purchase code, in characters.
const maxCode = 128

// PurchaseCode is a purchase code that is kept, encrypted. It is never shown again.
type PurchaseCode struct {
	ID int64
	// Hint is what lists show of it: its ends.
	Hint   string
	KeptAt time.Time
}

func purchaseCodeOf(c addondb.PurchaseCode) PurchaseCode {
	return PurchaseCode{ID: c.ID, Hint: c.Hint, KeptAt: c.KeptAt.Time}
}

// codeHint is the ends of a code, so few characters that the rest can't be guessed.
func codeHint(code string) string {
	switch {
	case len(code) >= 20:
		return code[:4] + "…" + code[len(code)-4:]
	case len(code) >= 10:
		return "…" + code[len(code)-2:]
	}
	return "…"
}

// check says what is wrong with an order before anybody is asked, and gives its
// domains, the site's first.
func (o *LicenseOrder) check() ([]license.Domain, error) {
	problems := map[string]string{}
	var problem string
	if o.Store, problem = checkStore(o.Store); problem != "" {
		problems["store"] = problem
	}
	if o.Code = strings.TrimSpace(o.Code); o.Kept == 0 {
		if problem := checkCode(o.Code); problem != "" {
			problems["code"] = problem
		}
	}
	rule := license.DomainRule{Wildcard: true} // the store knows the item's own
	d, err := license.ParseDomain(o.Domain, rule)
	if err != nil {
		problems["domain"] = sentenceOf(err)
	}
	domains := []license.Domain{d}
	if len(o.Tests) > maxTestDomains {
		problems["tests"] = fmt.Sprintf("That is too much at once: ask for at most %d test domains", maxTestDomains)
	}
	for _, text := range o.Tests {
		test, err := license.ParseDomain(text, rule)
		switch {
		case err != nil:
			problems["tests"] = sentenceOf(err)
		case !license.IsFree(test.Name):
			problems["tests"] = test.Name + " is no test domain, so a license for it may count. Test domains are localhost, names that end in .test or .local, and private addresses; for a staging host that the seller named, make a file of its own"
		}
		domains = append(domains, test)
	}
	if len(problems) > 0 {
		return nil, badOrder("license_order", problems)
	}
	return domains, nil
}

// checkStore holds the address of a store. A purchase code does not travel the
// internet in the open.
func checkStore(text string) (address, problem string) {
	text = strings.TrimRight(strings.TrimSpace(text), "/")
	u, err := url.Parse(text)
	switch {
	case text == "":
		return "", "Type the address of the store where the item was bought, like https://store.example"
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return text, "This is no address of a store; type it like https://store.example"
	case checkLine(text, maxTitle) != "":
		return text, checkLine(text, maxTitle)
	case u.Scheme == "http" && strings.Contains(u.Hostname(), ".") && !license.IsFree(u.Hostname()):
		return text, "Over http everybody on the way could read the purchase code; type the address with https://"
	}
	return text, ""
}

func checkCode(code string) (problem string) {
	printable := func(r rune) bool { return r > ' ' && r < unicode.MaxASCII }
	switch {
	case code == "":
		return "Paste the purchase code. It is on the receipt"
	case len(code) > maxCode || strings.ContainsFunc(code, func(r rune) bool { return r != ' ' && !printable(r) }):
		return "This is no purchase code: it is too long, or has characters that none has. Paste it as it stands on the receipt"
	}
	return ""
}

// SetStore keeps the address of the store that licenses come from. A wrong one is
// invalid with Fields "store".
func (a *Addon) SetStore(ctx context.Context, actor people.Actor, address string) error {
	if err := a.mayNow(actor, manageSite); err != nil {
		return err
	}
	address, problem := checkStore(address)
	if problem != "" {
		return badOrder("license_order", map[string]string{"store": problem})
	}
	return a.db.Tx(ctx, func(tx *addondb.DB) error { return a.setStore(ctx, tx, actor, address) })
}

func (a *Addon) setStore(ctx context.Context, tx *addondb.DB, actor people.Actor, address string) error {
	before, err := tx.LockMeta(ctx, metaStore)
	if err != nil || before == address {
		return err
	}
	if err := tx.SetMeta(ctx, metaStore, address); err != nil {
		return err
	}
	return a.audit(ctx, tx, actor, people.Event{Action: "store.set", Before: before, After: address})
}

// keepOrder keeps the store's address and the purchase code of an order, and gives
// the code.
func (a *Addon) keepOrder(ctx context.Context, actor people.Actor, o *LicenseOrder) (code string, err error) {
	err = a.db.Tx(ctx, func(tx *addondb.DB) error {
		if err := a.setStore(ctx, tx, actor, o.Store); err != nil {
			return err
		}
		if o.Kept == 0 {
			code = o.Code
			o.Kept, err = a.keepCode(ctx, tx, code)
			return err
		}
		row, err := tx.PurchaseCode(ctx, o.Kept)
		if err != nil {
			return notFound(err, noCode)
		}
		code, err = a.openCode(row)
		return err
	})
	return code, err
}

// keepCode keeps a purchase code, or finds the one that is kept already. Letter
// case makes no other code.
func (a *Addon) keepCode(ctx context.Context, tx *addondb.DB, code string) (int64, error) {
	rows, err := tx.PurchaseCodes(ctx)
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		if kept, err := a.openCode(row); err == nil && strings.EqualFold(kept, code) {
			return row.ID, nil
		}
	}
	row := addondb.PurchaseCode{Hint: codeHint(code), Sealed: a.box.Load().Seal(codePurpose(codeHint(code)), []byte(code)), KeptAt: a.timestamp()}
	id, err := tx.AddPurchaseCode(ctx, row)
	if err != nil {
		return 0, err
	}
	return id, a.sameKeyFile(ctx, tx)
}

// codePurpose binds a sealed code to what is shown of it.
func codePurpose(hint string) string { return "addon purchase code " + hint }

var noCode = missing("purchase_code_not_kept", "This purchase code is not kept any more; paste it again")

func (a *Addon) openCode(row addondb.PurchaseCode) (string, error) {
	code, err := a.box.Load().Open(codePurpose(row.Hint), row.Sealed)
	if err != nil {
		return "", conflict("purchase_code_not_kept", "The kept purchase code can't be read: it was written with another key file. Paste it again")
	}
	return string(code), nil
}

// keptCode gives a purchase code that is kept, and the store's address.
func (a *Addon) keptCode(ctx context.Context, id int64) (code, store string, err error) {
	row, err := a.db.PurchaseCode(ctx, id)
	if err != nil {
		return "", "", notFound(err, noCode)
	}
	if code, err = a.openCode(row); err != nil {
		return "", "", err
	}
	store, err = a.db.Meta(ctx, metaStore)
	return code, store, err
}

// forget gives err back, and takes a code away that the store does not know,
// unless a license is of it.
func (a *Addon) forget(ctx context.Context, kept int64, err error) error {
	ours, ok := errors.AsType[*countersign.Error](err)
	if !ok || ours.Code != countersign.CodePurchaseNotFound {
		return err
	}
	return errors.Join(err, a.db.Tx(ctx, func(tx *addondb.DB) error { return tx.DeleteUnusedCode(ctx, kept) }))
}

// badOrder says what is wrong with the fields of an order.
func badOrder(code string, fields map[string]string) *countersign.Error {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		texts = append(texts, fields[name])
	}
	return &countersign.Error{Kind: countersign.KindInvalid, Code: code, Message: strings.Join(texts, ". "), Fields: fields}
}

// sentenceOf is the message of an error, begun with a capital letter unless it
// begins with a domain.
func sentenceOf(err error) string {
	text := err.Error()
	if ours, ok := errors.AsType[*countersign.Error](err); ok {
		text = ours.Message
	}
	if word, _, _ := strings.Cut(text, " "); strings.Contains(word, ".") {
		return text
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// normal is the one form of a domain, without what marks a wildcard.
func normal(domain string) string {
	name, err := license.Normalize(strings.TrimPrefix(domain, "*."))
	if err != nil {
		return domain
	}
	return name
}

package license

import (
	"context"
	"net"
	"net/url"
	"strings"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/dial"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/license"
)

// metaStore is the name under which the database keeps the address of the store
// that the last license came from. Forms begin with it; a kept purchase code has an
// address of its own.
const metaStore = "addon_store"

// checkStore returns the one form of a store's address, or what is wrong with it. A
// purchase code does not travel the internet in the open.
func checkStore(text string) (address, problem string) {
	text = strings.TrimRight(strings.TrimSpace(text), "/")
	u, err := url.Parse(text)
	switch {
	case text == "":
		return "", "Type the address of the store where the item was bought, like https://store.example"
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || !dial.CanCall(u) || u.User != nil || strings.ContainsAny(text, "?#"):
		return text, "Invalid address of a store: expected one like https://store.example"
	case input.Line(text, input.MaxTitle) != "":
		return text, input.Line(text, input.MaxTitle)
	case u.Scheme == "http" && strings.Contains(u.Hostname(), ".") && !license.IsFree(u.Hostname()):
		return text, "Over http, others on the network can read the purchase code. Type the address with https://"
	}
	return u.Scheme + "://" + oneHost(u) + u.EscapedPath(), ""
}

// oneStore is the one form of a store's address that was kept. Earlier versions kept it as it was typed.
func oneStore(stored string) string {
	if address, problem := checkStore(stored); problem == "" {
		return address
	}
	return stored
}

// oneHost is the host of an address in lower case, without the port that its scheme
// has anyway, so that one store is not taken for two.
func oneHost(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	switch {
	case port != "" && port != map[string]string{"http": "80", "https": "443"}[u.Scheme]:
		return net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		return "[" + host + "]"
	}
	return host
}

// SetStore changes the address of the store with which forms begin. Kept purchase
// codes stay with theirs. A user gives the password again, which the operator does
// not need. Errors: a wrong address is invalid with Fields "store"; those of
// people.CheckPassword, with Fields "password".
func (s *Service) SetStore(ctx context.Context, actor people.Actor, address, password string) error {
	if err := s.access.May(actor, access.ManageSite); err != nil {
		return err
	}
	address, problem := checkStore(address)
	var wrongAddress, wrongPassword error
	if problem != "" {
		wrongAddress = input.Invalid("license_order", map[string]string{"store": problem})
	}
	if actor.Kind == people.KindUser {
		wrongPassword = fault.At("password", s.people.CheckPassword(ctx, actor, password))
	}
	if err := fault.All(wrongAddress, wrongPassword); err != nil {
		return err
	}
	return s.db.Tx(ctx, func(tx *addondb.DB) error { return s.setStore(ctx, tx, actor, address) })
}

func (s *Service) setStore(ctx context.Context, tx *addondb.DB, actor people.Actor, address string) error {
	before, err := tx.LockMeta(ctx, metaStore)
	if err != nil || before == address {
		return err
	}
	if err := tx.SetMeta(ctx, metaStore, address); err != nil {
		return err
	}
	return s.access.Audit(ctx, tx, actor, people.Event{Action: access.ActionStoreSet, Before: before, After: address})
}

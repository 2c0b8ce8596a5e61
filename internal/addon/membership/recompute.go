package membership

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/sqldb"
)

// change is why memberships are derived again.
type change struct {
	// purchase is the cause, zero for none.
	purchase addondb.Purchase
	// moved are the users between whom it was transferred.
	moved []string
	// environment is where the cause was, "" for that of the purchase.
	environment entitle.Environment
}

// recompute derives the memberships of users again, in the transaction of the cause (6.5).
// The version is raised only when something changed, and then the site gets events.
func (s *Service) recompute(ctx context.Context, tx *txn, why change, users ...string) error {
	users = sorted(users...)
	if len(users) == 0 {
		return nil
	}
	if err := tx.LockMemberships(ctx, s.timestamp(), users...); err != nil {
		return err
	}
	for _, user := range users {
		if err := s.recomputeOne(ctx, tx, why, user); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) recomputeOne(ctx context.Context, tx *txn, why change, user string) error {
	before, err := tx.Membership(ctx, user)
	if err != nil {
		return err
	}
	sources, err := s.sources(ctx, tx.DB, user)
	if err != nil {
		return err
	}
	was, is := derivedOf(before), entitle.Derive(sources)
	happened := entitle.EventsFor(was, is)
	if slices.Contains(why.moved, user) {
		happened = []events.Type{events.MembershipTransferred}
	}
	if isNew, err := s.notePaidTwice(ctx, tx.DB, user, sources); err != nil {
		return err
	} else if isNew {
		happened = append(happened, events.MembershipPaidTwice)
	}
	if was != is {
		if err := tx.UpdateMembership(ctx, rowOf(user, is, before.Version+1, s.timestamp())); err != nil {
			return err
		}
	}
	if len(happened) == 0 {
		return nil
	}
	after, err := tx.Membership(ctx, user)
	if err != nil {
		return err
	}
	return s.announce(ctx, tx, happened, before, after, why)
}

// announce appends the events of a change of a membership.
func (s *Service) announce(ctx context.Context, tx *txn, happened []events.Type, before, after addondb.Membership, why change) error {
	previous, err := countersign.EncodeJSON(printMembership(before))
	if err != nil {
		return err
	}
	present, err := countersign.EncodeJSON(printMembership(after))
	if err != nil {
		return err
	}
	purchase, err := s.printedOf(ctx, tx.DB, why.purchase)
	if err != nil {
		return err
	}
	environment := cmp.Or(why.environment, entitle.Environment(why.purchase.Environment), entitle.Production)
	for _, event := range happened {
		tx.events = append(tx.events, events.Event{
			Type: event, UserID: after.UserID, Membership: present, Previous: previous, Purchase: purchase, Environment: string(environment),
		})
	}
	return nil
}

// printedOf prints a purchase for an event, nil for none.
func (s *Service) printedOf(ctx context.Context, tx *addondb.DB, p addondb.Purchase) (json.RawMessage, error) {
	if p.ID == 0 {
		return nil, nil
	}
	printed, err := s.printPurchase(ctx, tx, p)
	if err != nil {
		return nil, err
	}
	return countersign.EncodeJSON(printed)
}

// sources lists what a user's membership may come from: items of purchases, verifications that are queued, purchases about
// whose owner the site decides, and grants.
func (s *Service) sources(ctx context.Context, tx *addondb.DB, user string) ([]entitle.Source, error) {
	items, err := tx.PurchaseSources(ctx, user)
	if err != nil {
		return nil, err
	}
	grants, err := tx.Grants(ctx, user)
	if err != nil {
		return nil, err
	}
	if items, err = s.withoutDenied(ctx, items, user); err != nil {
		return nil, err
	}
	list, err := waiting(ctx, tx, user)
	if err != nil {
		return nil, err
	}
	for _, i := range items {
		list = append(list, entitle.Source{
			Kind: entitle.FromStore, ID: i.PurchaseID, Status: entitle.Status(i.Status), Access: i.Access && i.Counts && i.Rank >= 0,
			Package: i.PackageID, Rank: i.Rank, Product: i.ProductID, Environment: entitle.Environment(i.Environment),
			Since: i.StartedAt.Time, Until: i.ExpiresAt.Time, WillRenew: i.WillRenew, Action: entitle.Action(i.Action), Unverified: i.Unverified,
		})
	}
	for _, g := range grants {
		list = append(list, sourceOf(g, s.timestamp()))
	}
	return list, nil
}

// waiting lists what a user waits for: answers of the store, and decisions of the site about the owner of a purchase.
func waiting(ctx context.Context, tx *addondb.DB, user string) (list []entitle.Source, err error) {
	queued, err := tx.QueuedVerificationsOf(ctx, user)
	if err != nil {
		return nil, err
	}
	for _, q := range queued {
		list = append(list, entitle.Source{Kind: entitle.FromStore, Status: entitle.Pending, Environment: environmentOf(q)})
	}
	claimed, err := tx.ClaimedEnvironments(ctx, user)
	for _, environment := range claimed {
		list = append(list, entitle.Source{Kind: entitle.FromStore, Status: entitle.Pending, Environment: entitle.Environment(environment)})
	}
	return list, err
}

// withoutDenied leaves out test purchases that the user may not have, also those from before the rule.
func (s *Service) withoutDenied(ctx context.Context, items []addondb.PurchaseSource, user string) ([]addondb.PurchaseSource, error) {
	isTest := func(i addondb.PurchaseSource) bool { return i.Environment == string(entitle.Test) }
	if !slices.ContainsFunc(items, isTest) {
		return items, nil
	}
	selling, err := s.selling(ctx)
	if err != nil || selling.TestPurchases.Allows(entitle.Test, user) {
		return items, err
	}
	return slices.DeleteFunc(items, isTest), nil
}

// sourceOf is a grant as a source of a membership at a time.
func sourceOf(g addondb.Grant, now sqldb.Time) entitle.Source {
	source := entitle.Source{
		Kind: entitle.FromGrant, ID: g.ID, Status: entitle.Active, Package: g.PackageID, Rank: g.Rank, Environment: entitle.Production,
		Since: g.CreatedAt.Time, Until: g.EndsAt.Time, Access: g.Rank >= 0,
	}
	if !g.EndedAt.IsZero() {
		source.Until = g.EndedAt.Time
	}
	if !source.Until.IsZero() && !now.Before(source.Until) {
		source.Status, source.Access = entitle.Expired, false
	}
	return source
}

func derivedOf(m addondb.Membership) entitle.Membership {
	return entitle.Membership{
		Status: entitle.Status(m.Status), Package: m.PackageID, Product: m.ProductID, Purchase: m.PurchaseID, Source: entitle.SourceKind(m.Source), SourceID: m.SourceID,
		Environment: entitle.Environment(m.Environment), Since: m.Since.Time, Until: m.Until.Time, WillRenew: m.WillRenew,
		Action: entitle.Action(m.Action), Unverified: m.Unverified,
	}
}

func rowOf(user string, m entitle.Membership, version int64, now sqldb.Time) addondb.Membership {
	return addondb.Membership{
		UserID: user, Status: string(m.Status), PackageID: m.Package, ProductID: m.Product, PurchaseID: m.Purchase, Source: string(m.Source), SourceID: m.SourceID,
		Environment: string(m.Environment), Since: at(m.Since), Until: at(m.Until), WillRenew: m.WillRenew, Action: string(m.Action),
		Unverified: m.Unverified, Version: version, UpdatedAt: now,
	}
}

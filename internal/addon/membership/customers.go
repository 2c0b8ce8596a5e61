package membership

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// Customer is a user of the site who has, or had, a purchase or a grant.
type Customer struct {
	User       string
	Membership countersign.IAPMembership
	// Environment is that of the purchase from which the membership comes, "" without one.
	Environment string
	// Unverified reports that the store did not confirm the membership in time.
	Unverified bool
	ChangedAt  time.Time // zero for a user who never had anything
}

func customerOf(m addondb.Membership) Customer {
	return Customer{User: m.UserID, Membership: printMembership(m), Environment: m.Environment, Unverified: m.Unverified, ChangedAt: m.UpdatedAt.Time}
}

// CustomerFilter narrows the list of customers, and says where it goes on.
type CustomerFilter struct {
	// Status is that of the membership, "" for all.
	Status string
	// Older and Newer are cursors of a page; at most one of them is set.
	Older, Newer string
	Limit        int
}

// CustomerPage is a part of the list of customers, the newest change first.
type CustomerPage struct {
	Customers []Customer
	// Count is how many there are on all pages.
	Count int64
	// Older and Newer are the cursors of the pages beside it, "" for none.
	Older, Newer string
}

// Statuses lists what a membership may be, for front ends that narrow a list to one.
func Statuses() []string {
	return []string{
		string(entitle.Active), string(entitle.Grace), string(entitle.OnHold), string(entitle.Paused), string(entitle.Pending),
		string(entitle.Expired), string(entitle.Revoked), string(entitle.None),
	}
}

// Customers lists the users with a membership or a purchase, the newest change first.
func (s *Service) Customers(ctx context.Context, actor people.Actor, f CustomerFilter) (page CustomerPage, err error) {
	if err := s.access.May(actor, access.ManageMembers); err != nil {
		return page, err
	}
	if f.Limit <= 0 || f.Limit > maxPurchases {
		f.Limit = maxPurchases
	}
	err = s.db.Snapshot(ctx, func(tx *addondb.DB) (err error) {
		if page.Count, err = tx.CountMemberships(ctx, f.Status); err != nil {
			return err
		}
		rows, older, newer, err := readCustomers(ctx, tx, f)
		if err != nil {
			return err
		}
		page.Customers = sqldb.Convert(rows, customerOf)
		if older {
			page.Older = cursorOf(rows[len(rows)-1])
		}
		if newer {
			page.Newer = cursorOf(rows[0])
		}
		return nil
	})
	return page, err
}

// readCustomers reads a page, and reports whether there are older and newer rows.
func readCustomers(ctx context.Context, tx *addondb.DB, f CustomerFilter) (rows []addondb.Membership, older, newer bool, err error) {
	if place, ok := placeOf(f.Newer); ok {
		rows, err = tx.MembershipsAfter(ctx, f.Status, place, f.Limit+1)
		if newer = len(rows) > f.Limit; newer {
			rows = rows[:f.Limit]
		}
		slices.Reverse(rows)
		return rows, len(rows) > 0, newer, err
	}
	place, behind := placeOf(f.Older)
	rows, err = tx.MembershipsBefore(ctx, f.Status, place, f.Limit+1)
	if older = len(rows) > f.Limit; older {
		rows = rows[:f.Limit]
	}
	return rows, older, behind && len(rows) > 0, err
}

// cursorOf is a row's place as text, and placeOf the place of a cursor, false for none.
func cursorOf(m addondb.Membership) string {
	return m.UpdatedAt.UTC().Format(time.RFC3339) + " " + m.UserID
}

func placeOf(cursor string) (addondb.MembershipPlace, bool) {
	text, user, _ := strings.Cut(cursor, " ")
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || checkUser(user) != nil {
		return addondb.MembershipPlace{}, false
	}
	return addondb.MembershipPlace{UpdatedAt: sqldb.Time{Time: at}, UserID: user}, true
}

// Customer reads one. A user who never had anything is one without a membership.
func (s *Service) Customer(ctx context.Context, actor people.Actor, user string) (Customer, error) {
	if err := s.access.May(actor, access.ManageMembers); err != nil {
		return Customer{}, err
	}
	if err := checkUser(user); err != nil {
		return Customer{}, err
	}
	m, err := membershipOf(ctx, s.db, user)
	return customerOf(m), err
}

// PurchaseDetails is a purchase as the site's staff sees it.
type PurchaseDetails struct {
	Found
	// SupersededBy is the id of the purchase that took its place, "" for none.
	SupersededBy string
	// Access reports that it counts, Unverified that the store did not confirm it in time.
	Access, Unverified bool
	// Transferred reports that staff moved it to its owner.
	Transferred bool
	// TokenLost reports that the store can't be asked any more.
	TokenLost bool
	// Claimants are the users who wait for a decision about the owner.
	Claimants          []string
	CanceledBy, Region string
	// ReadAt is when the store was asked last.
	ReadAt time.Time
}

// PurchaseFor reads a purchase for the site.
func (s *Service) PurchaseFor(ctx context.Context, actor people.Actor, name string) (d PurchaseDetails, err error) {
	if err := s.access.May(actor, access.ManageMembers); err != nil {
		return d, err
	}
	err = s.db.Snapshot(ctx, func(tx *addondb.DB) error {
		p, err := tx.Purchase(ctx, name)
		if err != nil {
			return sqldb.IfNotFound(err, noPurchase)
		}
		printed, err := s.printPurchase(ctx, tx, p)
		if err != nil {
			return err
		}
		waiting, err := claimants(ctx, tx, p)
		if err != nil {
			return err
		}
		d = PurchaseDetails{
			Found: Found{printed, p.UserID}, Claimants: waiting, Access: p.Access, Unverified: p.Unverified, Transferred: p.Transferred,
			TokenLost: len(p.Sealed) == 0, CanceledBy: p.CanceledBy, Region: p.Region, ReadAt: p.ReadAt.Time,
		}
		if p.SupersededBy == 0 {
			return nil
		}
		next, err := tx.PurchaseByID(ctx, p.SupersededBy)
		d.SupersededBy = next.Name
		return err
	})
	return d, err
}

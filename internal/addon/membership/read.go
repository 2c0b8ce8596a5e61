package membership

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/prepared"
	"github.com/countersign/countersign/internal/sqldb"
)

// Read is a membership as others see it, which callers must not change.
type Read struct {
	Membership countersign.IAPMembership
	// ETag changes with the user, with the membership's version and with the name of its package.
	ETag string
	// Answer is the response without a token, with the ETag.
	Answer *prepared.Response
}

// tokenRenewal is how long an app keeps a membership token before it gets another one.
const tokenRenewal = tokenLife / 2

// SignedMembership is Membership with its token, see [Service.Sign]. The ETag changes twice a
// day, so that an app that asks has a token that is valid for hours.
func (s *Service) SignedMembership(ctx context.Context, issuer, user string) (Read, error) {
	read, err := s.Membership(ctx, user)
	if err != nil {
		return Read{}, err
	}
	read.Membership.Token, err = s.Sign(ctx, issuer, user, read.Membership)
	read.ETag = fmt.Sprintf("%s-%d", read.ETag, s.now().Unix()/int64(tokenRenewal/time.Second))
	return read, err
}

// Membership returns what a user has, for an app that proved the user.
func (s *Service) Membership(ctx context.Context, user string) (Read, error) {
	if err := checkUser(user); err != nil {
		return Read{}, err
	}
	read, err := s.cachedMembership(ctx, user)
	if err != nil {
		return Read{}, err
	}
	return *read, nil
}

// MembershipFor is Membership for the site.
func (s *Service) MembershipFor(ctx context.Context, actor people.Actor, user string) (Read, error) {
	if err := s.access.May(actor, access.ManageMembers); err != nil {
		return Read{}, err
	}
	return s.Membership(ctx, user)
}

// membershipOf reads a user's membership. A user without one has none, of version 0.
func membershipOf(ctx context.Context, tx *addondb.DB, user string) (addondb.Membership, error) {
	m, err := tx.Membership(ctx, user)
	if errors.Is(err, sqldb.ErrNotFound) {
		return addondb.Membership{UserID: user, Status: string(entitle.None)}, nil
	}
	return m, err
}

// maxPurchases is how many purchases a page has at most.
const maxPurchases = 100

// Purchases lists a user's purchases for an app that proved the user, newest first, after the
// one whose id is the cursor, "" for from the newest on. next is the cursor of the next page,
// "" on the last one.
func (s *Service) Purchases(ctx context.Context, user, cursor string, limit int) (list []countersign.IAPPurchase, next string, err error) {
	if err := checkUser(user); err != nil {
		return nil, "", err
	}
	if limit <= 0 || limit > maxPurchases {
		limit = maxPurchases
	}
	list = []countersign.IAPPurchase{}
	err = s.db.Snapshot(ctx, func(tx *addondb.DB) error {
		var before int64
		if cursor != "" {
			p, err := tx.Purchase(ctx, cursor)
			if err != nil || p.UserID != user {
				return errors.Join(ignoreNotFound(err), noPurchase)
			}
			before = p.ID
		}
		rows, err := tx.PurchasesOf(ctx, user, before, limit+1)
		if len(rows) > limit {
			rows, next = rows[:limit], rows[limit-1].Name
		}
		for _, row := range rows {
			printed, err := s.printPurchase(ctx, tx, row)
			if err != nil {
				return err
			}
			list = append(list, printed)
		}
		return err
	})
	return list, next, err
}

// PurchasesFor is Purchases for the site.
func (s *Service) PurchasesFor(ctx context.Context, actor people.Actor, user, cursor string, limit int) (list []countersign.IAPPurchase, next string, err error) {
	if err := s.access.May(actor, access.ManageMembers); err != nil {
		return nil, "", err
	}
	return s.Purchases(ctx, user, cursor, limit)
}

var noPurchase = fault.NotFound("not_found", "No such purchase")

// Intent is what an app has to know before a purchase (6.3).
type Intent struct {
	// AccountID is what the app sets as the obfuscated account id.
	AccountID  string
	Membership countersign.IAPMembership
	// Current is the user's newest subscription with access, nil for none.
	Current *countersign.IAPPurchase
	// OwnedByOther reports that one of the tokens on the device belongs to another user.
	OwnedByOther bool
}

// Intend returns what an app has to know before a purchase, and remembers whose the account id
// is, so that a notification that arrives before the app's own call can be attributed (1.5).
// known is the SHA-256 sums of the tokens on the device.
func (s *Service) Intend(ctx context.Context, user string, known [][sha256.Size]byte) (Intent, error) {
	if err := checkUser(user); err != nil {
		return Intent{}, err
	}
	if len(known) > maxRestore {
		return Intent{}, fault.Invalid("invalid_request", "Send up to 20 tokens")
	}
	intent := Intent{AccountID: s.accountOf(user)}
	whose, err := s.db.IdentityUser(ctx, intent.AccountID)
	if ignoreNotFound(err) != nil {
		return Intent{}, err
	}
	if whose == "" {
		if err := s.db.PutIdentity(ctx, intent.AccountID, user, s.timestamp()); err != nil {
			return Intent{}, err
		}
	}
	for _, sum := range known {
		p, err := s.db.PurchaseByToken(ctx, platform, digestOfSum(s.box(), sum))
		if ignoreNotFound(err) != nil {
			return Intent{}, err
		}
		intent.OwnedByOther = intent.OwnedByOther || p.Access && p.UserID != "" && p.UserID != user
	}
	return s.addCurrent(ctx, user, intent)
}

// addCurrent adds to an intent what the user has.
func (s *Service) addCurrent(ctx context.Context, user string, intent Intent) (Intent, error) {
	err := s.db.Snapshot(ctx, func(tx *addondb.DB) error {
		m, err := membershipOf(ctx, tx, user)
		if err != nil {
			return err
		}
		intent.Membership = printMembership(m)
		rows, err := tx.PurchasesOf(ctx, user, 0, maxPurchases)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(rows, func(p addondb.Purchase) bool { return p.Access && !p.OneTime })
		if i < 0 {
			return nil
		}
		printed, err := s.printPurchase(ctx, tx, rows[i])
		intent.Current = &printed
		return err
	})
	return intent, err
}

package membership

import (
	"context"
	"encoding/hex"
	"errors"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/sqldb"
)

// transferWait is how long a purchase stays where it was moved by a user (1.5).
const transferWait = 24 * time.Hour

// owner is to whom a purchase belongs after a reading.
type owner struct {
	user string // "" for nobody that is known
	// from is the user who loses it, "" for none.
	from string
	// transferred reports that the site moved the purchase whose place it takes to this user.
	transferred bool
	// asked is the user about whom the site decides, "" for none.
	asked string
}

var (
	errOwnedByOther = fault.Conflict("owned_by_other_user", "This purchase belongs to another member")
	errUnbound      = fault.New(countersign.KindUnprocessable, "account_binding_required", "The app has to set an account id at the purchase")
	errTestPurchase = fault.Forbidden("test_purchase_not_allowed", "Test purchases are not allowed for this user")
)

// attribute decides to whom a purchase belongs (1.5). A refusal is an error of kind
// Conflict, Forbidden or Unprocessable.
func (s *Service) attribute(ctx context.Context, tx *addondb.DB, row addondb.Purchase, r *reading, req request) (owner, error) {
	account := r.sub.Account
	if account == "" && r.sub.OutOfApp != nil {
		account = r.sub.OutOfApp.Account
	}
	named, known, err := s.userOf(ctx, tx, account, req.user)
	if err != nil {
		return owner{}, err
	}
	before, err := ownedBefore(ctx, tx, row, r, known)
	if err != nil {
		return owner{}, err
	}
	if req.user == "" {
		return s.attributeAlone(row, before, named, r), nil
	}
	if !r.selling.TestPurchases.Allows(r.environment, req.user) {
		return owner{}, errTestPurchase
	}
	claim := entitle.Claim{
		Account: party(named, known, req.user), Owner: party(before.UserID, before.UserID != "", req.user),
		Transferred: before.Transferred, OwnerActive: before.Access, Restoring: req.restoring,
		TooSoon: s.now().Before(before.TransferredAt.Add(transferWait)),
	}
	if account != "" && !known {
		claim.Account = entitle.Unknown
	}
	policy := r.selling.Policy
	if req.vouched {
		policy = entitle.Vouched
	}
	switch policy.Decide(claim) {
	case entitle.Grant:
		return owner{user: req.user, transferred: before.Transferred}, nil
	case entitle.Ask:
		return owner{asked: req.user}, nil
	case entitle.GrantTransfer:
		return owner{user: req.user, from: before.UserID}, nil
	case entitle.RefuseUnbound:
		return owner{}, errUnbound
	case entitle.RefuseTheft:
		if !req.vouched { // the site itself names the user: not a theft
			return owner{}, errTheft
		}
	}
	return owner{}, errOwnedByOther
}

// errTheft is errOwnedByOther of a token that was bought for another account id.
var errTheft = fault.WithCause(errOwnedByOther, errors.New("membership: the account id is another user's"))

// attributeAlone is attribute without a caller: it never takes a purchase from its owner.
func (s *Service) attributeAlone(row, before addondb.Purchase, named string, r *reading) owner {
	switch user := named; {
	case row.UserID != "":
		return owner{user: row.UserID}
	case before.UserID != "":
		return owner{user: before.UserID, transferred: before.Transferred}
	case !r.selling.TestPurchases.Allows(r.environment, user):
		return owner{}
	default:
		return owner{user: user}
	}
}

// userOf returns whose an account id is, and whether this site handed it out: that of an erased user is nobody's.
// caller's is computed.
func (s *Service) userOf(ctx context.Context, tx *addondb.DB, account, caller string) (user string, known bool, err error) {
	if account == "" {
		return "", false, nil
	}
	if caller != "" && s.accountOf(caller) == account {
		return caller, true, nil
	}
	user, err = tx.IdentityUser(ctx, account)
	return user, err == nil, ignoreNotFound(err)
}

// party returns who a user is to a caller. A user who exists and has no name is another one.
func party(user string, exists bool, caller string) entitle.Party {
	switch {
	case !exists:
		return entitle.Nobody
	case user == caller:
		return entitle.Caller
	}
	return entitle.Another
}

// ownedBefore returns the purchase whose owner counts: this one, or, when it has no owner, a neighbour. An account id that
// this site handed out overrules that, unless the site moved the neighbour to its owner.
func ownedBefore(ctx context.Context, tx *addondb.DB, row addondb.Purchase, r *reading, known bool) (addondb.Purchase, error) {
	if row.UserID != "" {
		return row, nil
	}
	beside, err := neighbour(ctx, tx, r)
	if known && !beside.Transferred {
		return row, err
	}
	return beside, err
}

// neighbour reads the purchase of the same subscription that names the owner of one that is seen first: that whose place
// it takes, or that which took its place; zero for none that is known.
func neighbour(ctx context.Context, tx *addondb.DB, r *reading) (addondb.Purchase, error) {
	for _, digest := range r.chain {
		p, err := tx.PurchaseByToken(ctx, platform, digest)
		if !errors.Is(err, sqldb.ErrNotFound) {
			return p, err
		}
	}
	p, err := tx.Successor(ctx, r.digest)
	return p, ignoreNotFound(err)
}

// theftOf names a theft among those that were reported.
func theftOf(r *reading, user string) string { return hex.EncodeToString(r.digest) + " " + user }

// reportTheft tells the site, once an hour for each token and user, that somebody
// presented a token that was bought for another user. The report counts once the transaction
// is committed.
func (s *Service) reportTheft(ctx context.Context, tx *txn, r *reading, user string) error {
	if !s.thefts.Allows(theftOf(r, user), 1) {
		return nil
	}
	purchase, err := s.printedOf(ctx, tx.DB, r.known)
	if err != nil {
		return err
	}
	tx.events = append(tx.events, events.Event{Type: events.PurchaseTheftSuspected, UserID: user, Purchase: purchase, Environment: string(r.environment)})
	return nil
}

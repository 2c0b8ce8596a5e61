package entitle

import "encoding/base64"

// UnboundPolicy decides on a purchase that no account id was set for and that nobody owns.
type UnboundPolicy string

// The policies for purchases without an account id (1.5).
const (
	// FirstClaim binds the purchase to the first user who presents its token.
	FirstClaim UnboundPolicy = "first_claim"
	// Strict refuses purchases that the app made without an account id.
	Strict UnboundPolicy = "strict"
)

// OwnedPolicy decides on a purchase that no account id was set for and that another user owns.
type OwnedPolicy string

// The policies for purchases of another user (1.5).
const (
	// Keep leaves the purchase with its owner.
	Keep OwnedPolicy = "keep"
	// TransferIfInactive moves it when the owner has no access from it.
	TransferIfInactive OwnedPolicy = "transfer_if_inactive"
	// Transfer moves it when the caller asks to restore purchases.
	Transfer OwnedPolicy = "transfer"
)

// UnknownPolicy decides on a purchase that nobody owns, with an account id that this site never handed out: another
// backend made it.
type UnknownPolicy string

// The policies for purchases with an unknown account id.
const (
	// AskSite leaves the purchase without an owner until the site decides.
	AskSite UnknownPolicy = "ask"
	// RefuseUnknown refuses it to everybody.
	RefuseUnknown UnknownPolicy = "refuse"
	// FirstVerified binds it to the first user who presents its token.
	FirstVerified UnknownPolicy = "first_verified"
)

// Policy is all three. The zero Policy is first claim, keep and ask.
type Policy struct {
	Unbound UnboundPolicy
	Owned   OwnedPolicy
	Unknown UnknownPolicy
}

// Vouched is the policy for a user whom the site itself names as the owner.
var Vouched = Policy{Unbound: FirstClaim, Owned: Keep, Unknown: FirstVerified}

// Party is a user as seen by a caller.
type Party int

// The parties. Another user includes one who was erased.
const (
	Nobody Party = iota
	Caller
	Another
	// Unknown is behind an account id that this site never handed out.
	Unknown
)

// Claim is a purchase that a caller asks for.
type Claim struct {
	// Account is whose account id the store's answer has.
	Account Party
	// Owner is to whom the purchase, or the one that it replaces, belongs so far.
	Owner Party
	// Transferred reports that the site's staff moved it to its owner. That overrules the
	// account id, which the store never changes.
	Transferred bool
	// OwnerActive reports whether the owner has access from it.
	OwnerActive bool
	// Restoring reports that the caller asked to restore purchases, which is explicit; TooSoon
	// that the purchase was moved a short time ago.
	Restoring, TooSoon bool
}

// Verdict is the answer to a claim.
type Verdict int

// The verdicts.
const (
	// Grant activates the purchase for the caller and binds it for good.
	Grant Verdict = iota
	// GrantTransfer takes the purchase from its owner.
	GrantTransfer
	// RefuseOwned leaves it with another user (409).
	RefuseOwned
	// RefuseTheft is RefuseOwned of a token that was bought for another account id: somebody
	// else's token was presented.
	RefuseTheft
	// RefuseUnbound is a purchase without an account id under the policy strict (422).
	RefuseUnbound
	// Ask leaves it without an owner, and asks the site.
	Ask
)

// Decide answers a claim by the table of 1.5. An unknown account id never takes a purchase from its owner.
func (p Policy) Decide(c Claim) Verdict {
	switch {
	case c.Owner == Another && c.Transferred:
		return RefuseOwned
	case c.Owner == Caller && c.Transferred:
		return Grant
	case c.Account == Another:
		return RefuseTheft
	case c.Account == Unknown:
		return p.decideUnknown(c)
	case c.Owner == Another && c.Account == Caller:
		// The owner claimed it while the store sent no account id, and the store names the caller now.
		return GrantTransfer
	case c.Owner == Another:
		return p.decideOwned(c)
	case c.Account == Caller, c.Owner == Caller:
		return Grant
	case p.Unbound == Strict:
		return RefuseUnbound
	}
	return Grant
}

func (p Policy) decideUnknown(c Claim) Verdict {
	switch {
	case c.Owner == Caller:
		return Grant
	case c.Owner == Another, p.Unknown == RefuseUnknown:
		return RefuseTheft
	case p.Unknown == FirstVerified:
		return Grant
	}
	return Ask
}

func (p Policy) decideOwned(c Claim) Verdict {
	moves := p.Owned == TransferIfInactive && !c.OwnerActive || p.Owned == Transfer && c.Restoring
	if moves && !c.TooSoon {
		return GrantTransfer
	}
	return RefuseOwned
}

// AccountID returns the obfuscated account id of a user, 43 characters: the store accepts up to 64 and no personal
// data (1.5). mac is the HMAC-SHA256 of a message under the site's key.
func AccountID(mac func(message []byte) [32]byte, user string) string {
	sum := mac([]byte("v1:" + user))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

package addon

import (
	"context"
	"net/netip"
	"strings"

	"github.com/countersign/countersign/internal/people"
)

// TokenHolder is whoever has a token that was printed to the operator.
type TokenHolder struct {
	Actor people.Actor
	// Once tells a token that one run of the update uses up ([Addon.UseWebToken]). The
	// other is that of the set-up link.
	Once bool
}

// TokenHolder finds out whose token this is, without using it up. Errors are those of
// [Addon.CheckWebToken] and [Addon.CheckSetupLink]; the holder beside them may do nothing.
func (a *Addon) TokenHolder(ctx context.Context, value string, face people.Face, from netip.Addr) (TokenHolder, error) {
	holder := TokenHolder{Once: strings.HasPrefix(value, prefixUpdate)}
	name, check := "set-up link", a.CheckSetupLink
	if holder.Once {
		name, check = "update token", a.CheckWebToken
	}
	if err := check(ctx, value); err != nil {
		return holder, err
	}
	holder.Actor = people.Actor{Kind: people.KindOperator, ID: name, Face: face, Addr: from}
	return holder, nil
}

package store

import (
	"context"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/storedb"
)

// What tests see of a store besides its methods.
const (
	ActionRotateKey = actionRotateKey
	InvitationLife  = invitationLife
)

var IDText = idText

func (s *Store) ForgetLimits()                                { s.limits.shared = nil }
func (s *Store) ExchangeLimits(ctx context.Context, all bool) { s.exchangeLimits(ctx, all) }
func (s *Store) LeaveLimits(ctx context.Context)              { s.leaveLimits(ctx) }
func (s *Store) PrepareLater(ctx context.Context) error       { return s.prepareLater(ctx) }

func (s *Store) ChangeKey(ctx context.Context, a people.Actor, id int64, did people.Action, act func(*storedb.DB, *Key, *people.Event) error) (Key, error) {
	return s.changeKey(ctx, a, id, did, act)
}

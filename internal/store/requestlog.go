package store

import (
	"context"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/requests"
)

// seeRequests is an error unless an actor may see the logged API requests of a workspace; 0
// is all requests.
func (s *Store) seeRequests(ctx context.Context, a people.Actor, workspace int64) error {
	if workspace == 0 {
		return access.May(a, access.Administer)
	}
	return access.In(ctx, s.db, a, workspace, access.View, access.NoWorkspace(""))
}

// AddHistory writes calls of the past, the oldest first, into a log without calls, as uses of
// their keys too. It is what a demo shows.
func (s *Store) AddHistory(ctx context.Context, a people.Actor, calls []requests.Entry) error {
	filled, err := s.Requests.Fill(ctx, a, calls)
	if !filled {
		return err
	}
	for i := range calls {
		s.Validation.NoteUse(calls[i].Key, calls[i].Number.Time(), calls[i].Addr)
	}
	return nil
}

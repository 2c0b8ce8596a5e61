package store

import (
	"context"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/access"
)

// seeRequests is an error unless an actor may see the logged API requests of a workspace; 0
// is all requests.
func (s *Store) seeRequests(ctx context.Context, a people.Actor, workspace int64) error {
	if workspace == 0 {
		return access.May(a, access.Administer)
	}
	return access.In(ctx, s.db, a, workspace, access.View, access.NoWorkspace(""))
}

package simulator

import (
	"context"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/people"
)

// LastStep returns what the last step did, nil unless that was with this purchase.
func (s *Service) LastStep(ctx context.Context, actor people.Actor, ref string) (*Step, error) {
	st, err := s.look(ctx, actor)
	if err != nil || st.Last == nil || st.Last.Purchase.Ref != ref {
		return nil, err
	}
	return st.Last, nil
}

// keepStep keeps a step for [Service.LastStep].
func (r *run) keepStep(step Step) error {
	_, err := r.Service.change(r.ctx, r.selling, 0, func(_ *addondb.DB, st *state) error {
		st.Last = &step
		return nil
	})
	return err
}

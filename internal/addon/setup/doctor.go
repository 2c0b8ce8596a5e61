package setup

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/internal/health"
)

// CheckUpdate reports an update that has not run.
func (s *Service) CheckUpdate(ctx context.Context) (health.Finding, error) {
	plan, err := s.plan(ctx)
	if err != nil || plan.Nothing {
		return health.Finding{Level: health.OK, What: "The update of this version has run"}, err
	}
	return health.Finding{
		Level: health.Warn, What: fmt.Sprintf("An update is available (%s)", count(len(plan.Steps), "step")),
		Why: "New settings of this version are not registered.", Fix: "countersign addon update",
	}, nil
}

// CheckAdministrator reports that nobody can sign in.
func (s *Service) CheckAdministrator(ctx context.Context) (health.Finding, error) {
	there, err := s.o.Instance.People.HasAdministrator(ctx)
	if err != nil || there {
		return health.Finding{Level: health.OK, What: "An administrator exists"}, err
	}
	return health.Finding{
		Level: health.Warn, What: "No administrator yet", Why: "Nobody can sign in to the admin pages.", Fix: "countersign addon setup-link",
	}, nil
}

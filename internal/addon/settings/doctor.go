package settings

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/people"
)

// CheckPublished reports a draft that can't be published.
func (s *Service) CheckPublished(ctx context.Context) (health.Finding, error) {
	p, err := s.Published(ctx)
	if err != nil {
		return health.Finding{}, err
	}
	draft, err := s.Draft(ctx, people.Operator("doctor"))
	if err != nil {
		return health.Finding{}, err
	}
	for _, one := range draft.Problems {
		if one.Severity == SeverityError {
			return health.Finding{
				Level: health.Warn, What: "The draft can't be published: " + one.Key + ": " + one.Text,
				Why: "Apps receive the current version until then.", Fix: one.Command(),
			}, nil
		}
	}
	return health.Finding{Level: health.OK, What: fmt.Sprintf("Apps receive version %d of the settings", p.Version)}, nil
}

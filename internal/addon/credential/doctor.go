package credential

import (
	"context"
	"fmt"
	"strings"

	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/sqldb"
)

// Check reports API credentials that can't be read or are not active.
func (s *Service) Check(ctx context.Context) (health.Finding, error) {
	rows, err := s.db.Credentials(ctx)
	if err != nil {
		return health.Finding{}, err
	}
	for _, c := range rows {
		if _, err := s.open(c); err != nil {
			return health.Finding{
				Level: health.Fail, What: fmt.Sprintf("The values of %d (%s) can't be read with this key file", c.ID, c.Label),
				Why: "Calls with these API credentials are refused.", Fix: fmt.Sprintf("countersign addon api rotate %d", c.ID),
			}, nil
		}
	}
	list := sqldb.Convert(rows, credentialOf)
	var inactive []string
	active, first := 0, int64(0)
	for _, c := range list {
		if !c.Active() && first == 0 {
			first = c.ID
		}
		switch {
		case c.Active():
			active++
		case !c.KeyActive && !c.SecretActive:
			inactive = append(inactive, fmt.Sprintf("%d (%s): key and secret", c.ID, c.Label))
		case !c.KeyActive:
			inactive = append(inactive, fmt.Sprintf("%d (%s): key", c.ID, c.Label))
		default:
			inactive = append(inactive, fmt.Sprintf("%d (%s): secret", c.ID, c.Label))
		}
	}
	found := health.Finding{Level: health.OK, What: "All API credentials are active"}
	if len(inactive) > 0 {
		found = health.Finding{
			Level: health.Warn, What: "Inactive: " + strings.Join(inactive, "; "),
			Why: "The API key and the API secret must both be active before you go live.", Fix: fmt.Sprintf("countersign addon api activate %d", first),
		}
	}
	if active == 0 {
		found.Level = health.Fail
		if len(inactive) == 0 {
			found.What, found.Why, found.Fix = "No API credentials", "The app's server calls are refused.", "countersign addon update"
		}
	}
	return found, nil
}

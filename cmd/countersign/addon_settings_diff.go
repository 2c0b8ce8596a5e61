package main

import (
	"context"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/spf13/cobra"
)

func newSettingsDiff(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "diff", Short: "List what the next publish would change, and what is wrong with it", Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
				draft, err := s.Settings.Draft(ctx, operator())
				if err != nil {
					return err
				}
				if err := a.printChanges(draft.Changes, "Nothing waits to be published."); err != nil {
					return err
				}
				a.sayProblems(draft.Problems)
				return nil
			})
		},
	}
}

// changeJSON is the change of one setting as --json prints it; of a secret, the
// values are sentences about it. before is null for a key that is new, after for
// one that is gone.
type changeJSON struct {
	Key    string  `json:"key"`
	Before *string `json:"before"`
	After  *string `json:"after"`
}

func jsonOfChange(c settings.Change) changeJSON {
	out := changeJSON{Key: c.Key}
	if !c.Added {
		out.Before = &c.Before
	}
	if !c.Removed {
		out.After = &c.After
	}
	return out
}

func (a *app) printChanges(changes []settings.Change, nothing string) error {
	l := a.newList("KEY", "BEFORE", "AFTER")
	for _, c := range changes {
		before, after := c.Before, c.After
		if c.Added {
			before = "(new)"
		}
		if c.Removed {
			after = "(removed)"
		}
		if err := l.add(jsonOfChange(c), c.Key, before, after); err != nil {
			return err
		}
	}
	return l.end(nothing)
}

// sayProblems warns of what is wrong with the draft as a whole.
func (a *app) sayProblems(problems []settings.Problem) {
	for _, p := range problems {
		text := p.Text
		if p.Severity == settings.SeverityError {
			text += " (this stops a publish)"
		}
		a.warn("%s: %s", p.Key, safe(text))
	}
}

package main

import (
	"context"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/spf13/cobra"
)

func newSettingsPublish(a *app) *cobra.Command {
	var note string
	c := &cobra.Command{
		Use: "publish -m NOTE", Short: "Give the draft to the apps; a server takes it over within a second", Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := require(c, "message"); err != nil {
				return err
			}
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
				done, err := s.Settings.Publish(ctx, operator(), 0, note)
				if err != nil {
					return err
				}
				return a.printPublication(done)
			})
		},
	}
	c.Flags().StringVarP(&note, "message", "m", "", "a `note` for the history: what was changed and why (required)")
	return c
}

// publicationJSON is the result of a publish as --json prints it.
type publicationJSON struct {
	versionJSON
	Nothing  bool          `json:"nothing"` // the apps received it already
	Changes  []changeJSON  `json:"changes"`
	Warnings []problemJSON `json:"warnings"`
}

// problemJSON is something that is wrong with a draft, as --json prints it.
type problemJSON struct {
	Key  string `json:"key"`
	Text string `json:"text"`
}

func (a *app) printPublication(p settings.Publication) error {
	if a.json {
		out := publicationJSON{versionJSON: jsonOfVersion(p.Version), Nothing: p.Nothing, Changes: []changeJSON{}, Warnings: []problemJSON{}}
		for _, c := range p.Changes {
			out.Changes = append(out.Changes, jsonOfChange(c))
		}
		for _, w := range p.Warnings {
			out.Warnings = append(out.Warnings, problemJSON{w.Key, w.Text})
		}
		return a.printJSON(out)
	}
	if p.Nothing {
		_, err := fmt.Fprintf(a.term.out, "Nothing to publish: apps receive version %d.\n", p.Version.Number)
		return err
	}
	if err := a.printChanges(p.Changes, ""); err != nil {
		return err
	}
	a.sayProblems(p.Warnings)
	a.say("Published as version %d.", p.Version.Number)
	return nil
}

// versionJSON is a published version as --json prints it.
type versionJSON struct {
	Version     int64                 `json:"version"`
	PublishedAt countersign.Timestamp `json:"published_at"`
	By          string                `json:"by"`
	Via         string                `json:"via"`
	Note        string                `json:"note"`
	// Restored is the version whose values it brought back.
	Restored *int64 `json:"restored"`
}

func jsonOfVersion(v settings.Version) versionJSON {
	return versionJSON{v.Number, countersign.At(v.At), v.Actor, string(v.Face), v.Note, idOrNull(v.Restored)}
}

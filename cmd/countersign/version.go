package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/countersign/countersign/internal/cli"
	"github.com/spf13/cobra"
)

// buildInfo says what this program was made of.
type buildInfo struct {
	Version      string `json:"version"`
	Revision     string `json:"revision,omitempty"`
	Modified     bool   `json:"modified,omitempty"`
	Go           string `json:"go"`
	Platform     string `json:"platform"`
	SQLiteDriver string `json:"sqlite_driver"`
}

func readBuildInfo() buildInfo {
	b := buildInfo{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	for _, m := range info.Deps {
		if m.Path == "modernc.org/sqlite" {
			b.SQLiteDriver = m.Path + " " + m.Version
		}
	}
	return b
}

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cli.Args(),
		RunE: func(*cobra.Command, []string) error {
			b := readBuildInfo()
			if a.JSON {
				return a.PrintJSON(b)
			}
			_, err := fmt.Fprintf(a.Out, "countersign %s (%s, %s, %s)\n", b.Version, b.Go, b.Platform, b.SQLiteDriver)
			return err
		},
	}
}

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/sample"
	"github.com/countersign/countersign/internal/web"
	"github.com/spf13/cobra"
)

// demoFlags are the flags of demo.
type demoFlags struct{ listen, keep string }

func newDemo(a *app) *cobra.Command {
	var flags demoFlags
	c := &cobra.Command{
		Use: "demo", Short: "Try it: serve a shop with sample data", Args: none,
		Long: `Serve a shop with sample data, until Ctrl-C.

Its keys are the same everywhere and known to everybody, so keep it on this machine.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flag("data").Changed || c.Flag("db").Changed {
				return usage(c, "a demo has a store of its own; name its folder with --keep, or serve yours with: countersign store serve")
			}
			if err := checkListen(flags.listen); err != nil {
				return usage(c, "--listen: "+safe(err.Error()))
			}
			return a.demo(c.Context(), flags)
		},
	}
	c.Flags().StringVar(&flags.listen, "listen", defaultListen, "`address` to listen on")
	c.Flags().StringVar(&flags.keep, "keep", "", "keep the data in this `folder` (default a temporary one, deleted at the end)")
	return c
}

func (a *app) demo(ctx context.Context, flags demoFlags) error {
	dir := flags.keep
	if dir == "" {
		temporary, err := os.MkdirTemp("", "countersign-demo-")
		if err != nil {
			return folderError(os.TempDir(), "used", err)
		}
		defer os.RemoveAll(temporary)
		dir = temporary
	}
	s, err := a.newServer(ctx, place{dir: dir}, serveOptions{listen: flags.listen, failLimit: defaultFailLimit, log: web.LogOff})
	if err != nil {
		return err
	}
	defer s.close()
	report, err := fillDemo(ctx, s.store, dir)
	if ctx.Err() != nil {
		return nil // stopped before it had begun
	}
	if err != nil {
		return err
	}
	if err := a.printDemo(s.url(), flags, report); err != nil {
		return err
	}
	return s.run(ctx)
}

// fillDemo imports the sample shop with its well-known keys. A store of somebody
// else's is left alone.
func fillDemo(ctx context.Context, s *store.Store, dir string) (store.ImportReport, error) {
	there, err := s.Workspaces(ctx, operator())
	if err != nil {
		return store.ImportReport{}, err
	}
	demo := false
	for _, w := range there {
		demo = demo || w.Account.Username == sample.NewDemo().Workspace
	}
	if len(there) > 0 && !demo {
		return store.ImportReport{}, fail(exitConflict, "not_a_demo", fmt.Sprintf("%s holds a store that is no demo; name another folder with --keep", dir))
	}
	lines, err := io.ReadAll(sample.Reader(sample.Options{Keys: true}))
	if err != nil {
		return store.ImportReport{}, err
	}
	report, err := s.Import(ctx, operator(), bytes.NewReader(lines), store.ImportOptions{})
	if err == nil && !report.Written {
		err = fmt.Errorf("demo: %d lines of the sample shop are bad", report.Bad)
	}
	return report, err
}

// demoJSON is what demo prints with --json.
type demoJSON struct {
	StoreURL     string `json:"store_url"`
	APIKey       string `json:"api_key"`
	PurchaseCode string `json:"purchase_code"`
	RefundedCode string `json:"refunded_code"`
	EmptyAPIKey  string `json:"empty_api_key"`
}

func (a *app) printDemo(url string, flags demoFlags, report store.ImportReport) error {
	d := sample.NewDemo()
	if a.json {
		return a.printJSON(demoJSON{url, d.APIKey, d.PurchaseCode, d.RefundedCode, d.EmptyAPIKey})
	}
	home := "Data lives in a temporary folder and is deleted when you stop it (--keep DIR to keep)."
	if flags.keep != "" {
		home = "Data lives in " + safe(flags.keep) + " and is kept."
	}
	all := func(m store.Moved) string { return thousands(m.New + m.Changed + m.Same) }
	_, err := fmt.Fprintf(a.term.out, `Demo store ready. %s

  Store    %s
  API key  %s   (works only in this demo)
  Code     %s (valid)   %s (refunded)

Try it:
  curl -H 'X-Api-Key: %[3]s' \
       -d purchase_code=%[4]s %[2]s/api/purchases/validation

%[6]s workspaces, %[7]s items, %[8]s purchases. Press Ctrl+C to stop.
`, home, url, d.APIKey, d.PurchaseCode, d.RefundedCode, all(report.Workspaces), all(report.Items), all(report.Purchases))
	return err
}

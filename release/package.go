package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// nfpm makes packages. It stays out of go.mod, with all that it depends on.
const nfpm = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2"

// writePackages writes a .deb and a .rpm for each platform of Linux, as
// deploy/package/nfpm.yaml describes them.
func (r release) writePackages(ctx context.Context) error {
	for _, p := range r.platforms {
		if p.os != "linux" {
			continue
		}
		for _, kind := range []string{"deb", "rpm"} {
			fmt.Fprintln(r.log, "package", p, kind)
			if err := r.writePackage(ctx, p, kind); err != nil {
				return fmt.Errorf("%s for %s: %w", kind, p, err)
			}
		}
	}
	return nil
}

func (r release) writePackage(ctx context.Context, p platform, kind string) error {
	source, err := filepath.Abs(r.source)
	if err != nil {
		return err
	}
	out, err := filepath.Abs(r.out)
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, "go", "run", nfpm, "package", "--config", filepath.Join(source, "deploy", "package", "nfpm.yaml"), "--packager", kind, "--target", out)
	c.Dir, c.Stderr = source, r.log
	c.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "SOURCE_DATE_EPOCH="+strconv.FormatInt(r.date.Unix(), 10),
		"ARCH="+p.arch, "VERSION="+r.version, "BINARY="+r.binary(p), "STAGE="+r.stage, "SOURCE="+source)
	return c.Run()
}

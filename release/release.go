package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// release is what is built.
type release struct {
	commit
	source, out string // folders: of the source, and of what is built
	platforms   []platform
	log         io.Writer

	stage string // a folder for what the files in out are built from
}

// build builds everything for the platforms of the release.
func (r release) build(ctx context.Context) (err error) {
	if err := r.prepareOut(); err != nil {
		return err
	}
	if r.stage, err = os.MkdirTemp("", "countersign-release-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.stage)) }()
	fmt.Fprintf(r.log, "countersign %s, commit %s\n", r.version, r.revision)
	for _, p := range append(slices.Clone(r.platforms), host) {
		if err := r.compile(ctx, p); err != nil {
			return err
		}
	}
	for _, step := range []func(context.Context) error{
		r.writeGenerated, r.writeCopyright, r.writeArchives, r.writePackages, r.writeImage, r.writeMaterials,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return r.writeSums()
}

// prepareOut creates the folder of what is built. Files of another build would be in its check sums.
func (r release) prepareOut() error {
	files, err := os.ReadDir(r.out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return os.MkdirAll(r.out, 0o755)
	case err == nil && len(files) > 0:
		return fmt.Errorf("the folder %s is not empty: remove it, or name another one with -out", r.out)
	}
	return err
}

// binary is where the binary of a platform is.
func (r release) binary(p platform) string {
	return filepath.Join(r.stage, p.os+"_"+p.arch, p.program())
}

// compile builds the binary of a platform, unless it is there. Nothing of this machine is
// in it: no path, no C library, and the version only as it is given.
func (r release) compile(ctx context.Context, p platform) error {
	if _, err := os.Stat(r.binary(p)); err == nil {
		return nil
	}
	fmt.Fprintln(r.log, "build", p)
	linker := fmt.Sprintf("-s -w -X main.version=v%s -X main.revision=%s", r.version, r.revision)
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", linker, "-o", r.binary(p), "./cmd/countersign")
	c.Dir, c.Stderr = r.source, r.log
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=", "GOOS="+p.os, "GOARCH="+p.arch, "GOAMD64=v1", "GOARM64=v8.0")
	if err := c.Run(); err != nil {
		return fmt.Errorf("go build for %s: %w", p, err)
	}
	return nil
}

// writeGenerated writes the files that the program itself prints: the licenses of its
// parts, completions of shells, and the commented configurations.
func (r release) writeGenerated(ctx context.Context) error {
	for name, args := range map[string][]string{
		"THIRD-PARTY-LICENSES": {"version", "--licenses"},
		"completion.bash":      {"completion", "bash"},
		"completion.zsh":       {"completion", "zsh"},
		"completion.fish":      {"completion", "fish"},
		"store.toml":           {"store", "init", "--data", "/var/lib/countersign/store"},
		"addon.toml":           {"addon", "init", "--data", "/var/lib/countersign/addon"},
	} {
		text, err := output(ctx, r.stage, r.binary(host), args...)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.stage, name), []byte(text+"\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writeCopyright writes the license of the product before those of its parts.
func (r release) writeCopyright(context.Context) error {
	var all []byte
	for _, path := range []string{filepath.Join(r.source, "LICENSE"), filepath.Join(r.stage, "THIRD-PARTY-LICENSES")} {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		all = append(all, text...)
	}
	return os.WriteFile(filepath.Join(r.stage, "copyright"), all, 0o644)
}

// file returns the path of a file to build, countersign_VERSION and an ending.
func (r release) file(ending string) string {
	return filepath.Join(r.out, "countersign_"+strings.ReplaceAll(r.version, "+", "-")+ending)
}

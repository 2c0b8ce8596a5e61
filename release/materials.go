package main

import (
	"bytes"
	"cmp"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

const (
	home    = "https://github.com/countersign/countersign"
	license = "Apache-2.0"
	unknown = "NOASSERTION" // SPDX's word for what a document does not say
)

// module is a module that binaries are built from, or Go's standard library.
type module struct{ path, version string }

// writeMaterials writes the bill of materials: the modules that are in the binaries, by what
// the binaries say, with the licenses of their folders.
func (r release) writeMaterials(ctx context.Context) error {
	found := map[module]bool{}
	for _, p := range r.platforms {
		info, err := buildinfo.ReadFile(r.binary(p))
		if err != nil {
			return fmt.Errorf("modules of the binary for %s: %w", p, err)
		}
		found[module{"stdlib", strings.TrimPrefix(info.GoVersion, "go")}] = true
		for _, m := range info.Deps {
			if m.Replace != nil {
				return fmt.Errorf("the module %s is replaced, which a bill of materials can't say", m.Path)
			}
			found[module{m.Path, m.Version}] = true
		}
	}
	modules := slices.SortedFunc(maps.Keys(found), func(a, b module) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.version, b.version))
	})
	folders, err := r.folders(ctx)
	if err != nil {
		return err
	}
	document := r.document()
	for i, m := range modules {
		declared, err := licensesIn(folders[m])
		if err != nil {
			return fmt.Errorf("license of %s: %w", m.path, err)
		}
		document.add(i, m, declared)
	}
	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(r.file(".spdx.json"), append(text, '\n'), 0o644)
}

// folders returns where the modules are on this machine.
func (r release) folders(ctx context.Context) (map[module]string, error) {
	c := exec.CommandContext(ctx, "go", "list", "-m", "-json=Path,Version,Dir", "all")
	c.Dir, c.Stderr = r.source, r.log
	c.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off")
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	all := map[module]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var m struct{ Path, Version, Dir string }
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		all[module{m.Path, m.Version}] = m.Dir
	}
	root, err := output(ctx, r.source, "go", "env", "GOROOT")
	all[module{"stdlib", strings.TrimPrefix(runtime.Version(), "go")}] = root
	return all, err
}

var isLicense = regexp.MustCompile(`(?i)^(licen[sc]e|copying)[-.\w]*$`)

// licensesIn returns the licenses of a folder as an expression of SPDX.
func licensesIn(folder string) (string, error) {
	if folder == "" {
		return unknown, nil
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		return "", err
	}
	var ids []string
	for _, f := range files {
		if f.IsDir() || !isLicense.MatchString(f.Name()) || strings.HasSuffix(f.Name(), ".go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			return "", err
		}
		for _, m := range licensecheck.Scan(text).Match {
			if !m.IsURL && !slices.Contains(ids, m.ID) {
				ids = append(ids, m.ID)
			}
		}
	}
	return cmp.Or(strings.Join(ids, " AND "), unknown), nil
}

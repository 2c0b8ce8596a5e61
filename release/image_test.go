//go:build linux

package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// checkImage reads the archive as an engine does, and runs what it says.
func checkImage(t *testing.T, r release) {
	dbtest.NeedProgram(t, "bwrap")
	image := openImage(t, r)
	if err := validate.Image(image); err != nil {
		t.Error(err)
	}
	file, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config := file.Config
	if file.OS != "linux" || file.Architecture != host.arch || config.User != "65532:65532" || config.Labels["org.opencontainers.image.version"] != "1.2.3" {
		t.Errorf("%+v", file)
	}
	if _, volume := config.Volumes["/data"]; !volume {
		t.Errorf("%+v", config)
	}
	root := unpack(t, mutate.Extract(image))
	flags := []string{"--bind", root, "/", "--proc", "/proc", "--dev", "/dev", "--unshare-user", "--uid", "65532", "--gid", "65532", "--unshare-pid", "--cap-drop", "ALL",
		"--clearenv", "--chdir", config.WorkingDir, "--die-with-parent", "--as-pid-1", "--info-fd", "3"}
	for _, variable := range append(config.Env, "COUNTERSIGN_LISTEN=127.0.0.1:0") {
		name, value, _ := bytes.Cut([]byte(variable), []byte("="))
		flags = append(flags, "--setenv", string(name), string(value))
	}
	p := startInfo(t, exec.Command("bwrap", slices.Concat(flags, []string{"--"}, config.Entrypoint, config.Cmd)...))
	s := p.serve()
	s.answers(t, "/readyz", 200)
	s.stop()
	if _, err := os.Stat(filepath.Join(root, "data", "store.db")); err != nil {
		t.Error(err)
	}
}

// openImage returns the image of this machine's platform in the OCI archive.
func openImage(t *testing.T, r release) v1.Image {
	t.Helper()
	f, err := os.Open(r.built(t, "_oci.tar"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	index, err := layout.ImageIndexFromPath(unpack(t, f))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 || manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "1.2.3" {
		t.Fatalf("%v: %+v", err, manifest)
	}
	if index, err = index.ImageIndex(manifest.Manifests[0].Digest); err != nil {
		t.Fatal(err)
	}
	if manifest, err = index.IndexManifest(); err != nil || len(manifest.Manifests) != 1 || manifest.Manifests[0].Platform.Architecture != host.arch {
		t.Fatalf("%v: %+v", err, manifest)
	}
	image, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// unpack writes a tar into a folder. All files become those of this process's user.
func unpack(t *testing.T, from io.Reader) string {
	t.Helper()
	root := t.TempDir()
	for archive := tar.NewReader(from); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return root
		} else if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(root, h.Name)
		if want := map[string]int{"data": imageUser}[strings.TrimSuffix(h.Name, "/")]; h.Uid != want || h.Gid != want {
			t.Errorf("%s belongs to %s", h.Name, strconv.Itoa(h.Uid))
		}
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, h.FileInfo().Mode().Perm())
		} else {
			var text []byte
			if text, err = io.ReadAll(archive); err == nil {
				err = os.WriteFile(path, text, h.FileInfo().Mode().Perm())
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

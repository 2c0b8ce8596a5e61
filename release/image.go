package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// imageUser is the user and the group in the container, which has no others.
const imageUser = 65532

// writeImage writes a container image for all platforms of Linux as an OCI archive.
func (r release) writeImage(context.Context) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	var images int
	for _, p := range r.platforms {
		if p.os != "linux" {
			continue
		}
		image, err := r.image(p)
		if err != nil {
			return fmt.Errorf("image for %s: %w", p, err)
		}
		images++
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.os, Architecture: p.arch}}})
	}
	if images == 0 {
		return nil
	}
	folder := filepath.Join(r.stage, "image")
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	tag := strings.ReplaceAll(r.version, "+", "-")
	err = path.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": tag,
		"io.containerd.image.name":          "docker.io/library/countersign:" + tag, // the name after docker load
	}))
	if err != nil {
		return err
	}
	return r.writeFolder(r.file("_oci.tar"), folder)
}

// image is a container image of one platform on an empty base.
func (r release) image(p platform) (v1.Image, error) {
	layer, err := r.layer(p)
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), layer)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = p.os, p.arch, v1.Time{Time: r.date}
	config.History = []v1.History{{Created: config.Created, CreatedBy: "countersign release"}}
	config.Config = v1.Config{
		User:         fmt.Sprintf("%d:%[1]d", imageUser),
		Entrypoint:   []string{"/usr/bin/countersign"},
		Cmd:          []string{"store", "serve"},
		WorkingDir:   "/data",
		Volumes:      map[string]struct{}{"/data": {}},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}, "8081/tcp": {}},
		Env: []string{
			"PATH=/usr/bin", "HOME=/data",
			"COUNTERSIGN_DATA=/data", "COUNTERSIGN_LISTEN=:8080",
			"COUNTERSIGN_ADDON_DATA=/data", "COUNTERSIGN_ADDON_LISTEN=:8081",
		},
		Labels: map[string]string{
			"org.opencontainers.image.title":    "Countersign",
			"org.opencontainers.image.version":  r.version,
			"org.opencontainers.image.revision": r.revision,
			"org.opencontainers.image.source":   home,
			"org.opencontainers.image.licenses": license,
		},
	}
	return mutate.ConfigFile(image, config)
}

// layer is the file system of the image.
func (r release) layer(p platform) (v1.Layer, error) {
	entries := []entry{
		{name: "data/", mode: 0o700, uid: imageUser},
		{name: "etc/", mode: 0o755},
		{name: "etc/group", mode: 0o644, text: fmt.Sprintf("countersign:x:%d:\n", imageUser)},
		{name: "etc/passwd", mode: 0o644, text: fmt.Sprintf("countersign:x:%d:%[1]d::/data:/sbin/nologin\n", imageUser)},
		{name: "tmp/", mode: 0o1777},
		{name: "usr/", mode: 0o755},
		{name: "usr/bin/", mode: 0o755},
		{name: "usr/bin/countersign", mode: 0o755, from: r.binary(p)},
		{name: "usr/share/", mode: 0o755},
		{name: "usr/share/doc/", mode: 0o755},
		{name: "usr/share/doc/countersign/", mode: 0o755},
		{name: "usr/share/doc/countersign/LICENSE", mode: 0o644, from: filepath.Join(r.source, "LICENSE")},
		{name: "usr/share/doc/countersign/THIRD-PARTY-LICENSES", mode: 0o644, from: filepath.Join(r.stage, "THIRD-PARTY-LICENSES")},
	}
	var b bytes.Buffer
	if err := writeTar(&b, r.date, entries); err != nil {
		return nil, err
	}
	content := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }
	return tarball.LayerFromOpener(content, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
}

// writeFolder writes the files of a folder to a tar, sorted by name.
func (r release) writeFolder(path, folder string) error {
	var entries []entry
	err := filepath.WalkDir(folder, func(file string, d fs.DirEntry, err error) error {
		name, nameErr := filepath.Rel(folder, file)
		if err = errors.Join(err, nameErr); err != nil || name == "." {
			return err
		}
		if name = filepath.ToSlash(name); d.IsDir() {
			entries = append(entries, entry{name: name + "/", mode: 0o755})
		} else {
			entries = append(entries, entry{name: name, mode: 0o644, from: file})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return create(path, func(w io.Writer) error { return writeTar(w, r.date, entries) })
}

package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// platform is an operating system and a processor, by Go's names.
type platform struct{ os, arch string }

// platforms are those of a release.
var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"},
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

// host is the platform that this program runs on.
var host = platform{runtime.GOOS, runtime.GOARCH}

func (p platform) String() string { return p.os + "/" + p.arch }

func parsePlatform(text string) (platform, error) {
	os, arch, _ := strings.Cut(text, "/")
	p := platform{os, arch}
	if !slices.Contains(platforms, p) {
		return platform{}, fmt.Errorf("expected one of %v", platforms)
	}
	return p, nil
}

// program is the name of the binary.
func (p platform) program() string {
	if p.os == "windows" {
		return "countersign.exe"
	}
	return "countersign"
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
)

func TestVersionIsTheTagOfTheCommit(t *testing.T) {
	dbtest.NeedProgram(t, "git")
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z")
	t.Setenv("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z")
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		if _, err := output(t.Context(), dir, "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b.example"}, args...)...); err != nil {
			t.Fatal(err)
		}
	}
	version := func() string {
		t.Helper()
		c, err := describe(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		if c.date.Format("20060102150405") != "20260102030405" {
			t.Errorf("the date is %s", c.date)
		}
		return strings.ReplaceAll(c.version, c.revision[:12], "REVISION")
	}
	if _, err := describe(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "a release is built from a checkout of git") {
		t.Error(err)
	}
	git("init", "--quiet")
	git("commit", "--quiet", "--allow-empty", "--message", "first")
	for _, step := range []struct{ tag, want string }{
		{"", "0.0.0-20260102030405.REVISION"},
		{"nightly", "0.0.0-20260102030405.REVISION"},
		{"v1.2.3-rc.1", "1.2.3-rc.1"},
		{"v1.2.3", "1.2.3"},
	} {
		if step.tag != "" {
			git("tag", step.tag)
		}
		if got := version(); got != step.want {
			t.Errorf("with the tag %q: %s, want %s", step.tag, got, step.want)
		}
	}
	write(t, filepath.Join(dir, "file"), "not committed", 0o644)
	if got := version(); got != "1.2.3+dirty" {
		t.Errorf("with a file that is not committed: %s", got)
	}
}

func TestUnknownPlatformsAreRefused(t *testing.T) {
	for text, ok := range map[string]bool{"linux/amd64": true, "windows/arm64": true, "linux": false, "": false, "plan9/386": false, "linux/amd64/v3": false} {
		if p, err := parsePlatform(text); (err == nil) != ok || (ok && p.String() != text) {
			t.Errorf("%q: %v, %v", text, p, err)
		}
	}
}

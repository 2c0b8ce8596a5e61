package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// commit is what git knows of the source.
type commit struct {
	version  string // without v; as Go derives it, where the commit has no tag
	revision string
	date     time.Time // of the commit, in UTC: files in archives and packages have it
}

// releaseTag finds the tag of a release, like v1.2.3 or v1.2.3-rc.1.
var releaseTag = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

// describe reads the commit that a folder has checked out. A commit without a tag gets a
// version that sorts before all releases, later commits after earlier ones. With changes
// that are not committed, the version ends with "+dirty".
func describe(ctx context.Context, source string) (commit, error) {
	line, err := output(ctx, source, "git", "log", "-1", "--format=%H %ct")
	if err != nil {
		return commit{}, fmt.Errorf("%w (a release is built from a checkout of git)", err)
	}
	revision, seconds, _ := strings.Cut(line, " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return commit{}, fmt.Errorf("git log: %w", err)
	}
	c := commit{revision: revision, date: time.Unix(unix, 0).UTC()}
	c.version = "0.0.0-" + c.date.Format("20060102150405") + "." + revision[:12]
	tags, err := output(ctx, source, "git", "-c", "versionsort.suffix=-", "tag", "--points-at", "HEAD", "--sort=-version:refname")
	if err != nil {
		return commit{}, err
	}
	for tag := range strings.FieldsSeq(tags) {
		if releaseTag.MatchString(tag) {
			c.version = tag[1:]
			break
		}
	}
	changes, err := output(ctx, source, "git", "status", "--porcelain")
	if changes != "" {
		c.version += "+dirty"
	}
	return c, err
}

// output runs a program in a folder and returns what it prints, without the last newline.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	var said bytes.Buffer
	c.Dir, c.Stderr = dir, &said
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, args[0], err, strings.TrimSpace(said.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

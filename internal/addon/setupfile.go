package addon

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// SetupFile is the name of the file in the data folder that holds the token of
// the last set-up link, readable by its owner alone.
const SetupFile = "setup-token"

// setupFile is what is in that file.
type setupFile struct {
	token   string
	expires time.Time
	ended   bool // there is an administrator
}

func (s setupFile) good(now time.Time) bool {
	return s.token != "" && !s.ended && now.Before(s.expires)
}

// linkToken is what [people.NewLinkToken] returns.
var linkToken = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// readSetupFile reads the file, which is valid for [setupLife] after it was written. A file
// with anything but a token holds none.
func (a *Addon) readSetupFile() (setupFile, error) {
	path := filepath.Join(a.options.Dir, SetupFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return setupFile{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return setupFile{}, err
	}
	token := strings.TrimSpace(string(text))
	if !linkToken.MatchString(token) {
		return setupFile{}, nil
	}
	return setupFile{token: token, expires: info.ModTime().Add(setupLife).Truncate(time.Second)}, nil
}

// endSetupFile is called when there is a new user: the end of every set-up link, and so
// of the file.
func (a *Addon) endSetupFile() {
	if err := a.removeSetupFile(); err != nil {
		a.log.Warn("the file of a set-up link that has ended could not be removed", "file", SetupFile, "cause", err)
	}
}

// tidySetupFile removes the file once its link can make no administrator any more.
func (a *Addon) tidySetupFile(ctx context.Context) error {
	file, err := a.readSetupFile()
	if err != nil {
		return nil //nolint:nilerr // there is nothing to remove
	}
	if file.good(a.now()) && a.Installed() {
		file.ended, err = a.people.HasAdministrator(ctx)
	}
	if err != nil || file.good(a.now()) {
		return err
	}
	return a.removeSetupFile()
}

func (a *Addon) removeSetupFile() error {
	err := os.Remove(filepath.Join(a.options.Dir, SetupFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// setupFileLasts is how long to wait before the next look at the file: an hour, or
// less when its link ends before.
func (a *Addon) setupFileLasts() time.Duration {
	file, err := a.readSetupFile()
	if now := a.now(); err == nil && file.good(now) {
		return min(time.Hour, file.expires.Sub(now))
	}
	return time.Hour
}

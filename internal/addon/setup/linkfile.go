package setup

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

// LinkFile is the name of the file in the data folder that holds the token of
// the last set-up link, readable by its owner alone.
const LinkFile = "setup-token"

// linkFile is what is in that file.
type linkFile struct {
	token   string
	expires time.Time
	ended   bool // there is an administrator
}

func (s linkFile) good(now time.Time) bool {
	return s.token != "" && !s.ended && now.Before(s.expires)
}

// linkToken is what [people.NewLinkToken] returns.
var linkToken = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// readLinkFile reads the file, which is valid for [linkLife] after it was written. A file
// with anything but a token holds none.
func (s *Service) readLinkFile() (linkFile, error) {
	path := filepath.Join(s.o.Instance.Location.Dir, LinkFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return linkFile{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return linkFile{}, err
	}
	token := strings.TrimSpace(string(text))
	if !linkToken.MatchString(token) {
		return linkFile{}, nil
	}
	return linkFile{token: token, expires: info.ModTime().Add(linkLife).Truncate(time.Second)}, nil
}

// endLinkFile is called when there is a new user: the end of every set-up link, and so
// of the file.
func (s *Service) endLinkFile() {
	if err := s.removeLinkFile(); err != nil {
		s.o.Log.Warn("the file of a set-up link that has ended could not be removed", "file", LinkFile, "cause", err)
	}
}

// TidyLinkFile removes the file once its link can make no administrator any more.
func (s *Service) TidyLinkFile(ctx context.Context) error {
	file, err := s.readLinkFile()
	if err != nil {
		return nil //nolint:nilerr // there is nothing to remove
	}
	if file.good(s.o.Access.Now()) && s.o.Access.Installed() {
		file.ended, err = s.o.Instance.People.HasAdministrator(ctx)
	}
	if err != nil || file.good(s.o.Access.Now()) {
		return err
	}
	return s.removeLinkFile()
}

func (s *Service) removeLinkFile() error {
	err := os.Remove(filepath.Join(s.o.Instance.Location.Dir, LinkFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// LinkFileLasts is how long to wait before the next look at the file: an hour, or
// less when its link ends before.
func (s *Service) LinkFileLasts() time.Duration {
	file, err := s.readLinkFile()
	if now := s.o.Access.Now(); err == nil && file.good(now) {
		return min(time.Hour, file.expires.Sub(now))
	}
	return time.Hour
}

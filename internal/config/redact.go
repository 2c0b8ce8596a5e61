package config

import (
	"net/url"
	"slices"
	"strings"
)

// hidden is shown in place of a password.
const hidden = "xxxxx"

// Redacted is [Setting.Value] without what may be secret in a URL.
func (s Setting) Redacted() any {
	text, is := s.Value().(string)
	if is && text != "" && (s.Secret || strings.Contains(text, "://")) {
		return redact(text)
	}
	return s.Value()
}

// redact takes out of a URL what may be secret. What can't be read as a URL is hidden as a whole.
func redact(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Opaque != "" {
		return hidden
	}
	_, found := u.User.Password()
	if found {
		u.User = url.UserPassword(u.User.Username(), hidden)
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return hidden
	}
	for name := range query {
		if isSecret(u.Scheme, name) {
			query.Set(name, hidden)
			u.RawQuery, found = query.Encode(), true
		}
	}
	if !found {
		return text
	}
	return u.String()
}

// isSecret reports whether a parameter of a URL may be secret: one like PostgreSQL's password and
// sslpassword, or any of a bucket that does not only say where it is.
func isSecret(scheme, name string) bool {
	name = strings.ToLower(name)
	if scheme == "s3" {
		return !slices.Contains([]string{"region", "endpoint", "prefix"}, name)
	}
	return strings.Contains(name, "password") || strings.Contains(name, "secret") || strings.Contains(name, "token")
}

// Exposed reports whether all users of the machine can read a password in the file.
func (f *File) Exposed(all []Setting) bool {
	if f == nil || !f.Public {
		return false
	}
	for _, s := range all {
		if text, is := f.entries[s.Key].value.(string); is && redact(text) != text && (s.Secret || strings.Contains(text, "://")) {
			return true
		}
	}
	return false
}

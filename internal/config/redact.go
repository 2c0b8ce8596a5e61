package config

import (
	"net/url"
	"strings"
)

// hidden is shown in place of a password.
const hidden = "xxxxx"

// Redacted is [Setting.Value] without the passwords of a URL.
func (s Setting) Redacted() any {
	text, is := s.Value().(string)
	if is && text != "" && (s.Secret || strings.Contains(text, "://")) {
		return redact(text)
	}
	return s.Value()
}

// redact takes the passwords out of a URL. What can't be read as a URL is hidden as a whole.
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
		if isSecret(name) {
			query.Set(name, hidden)
			u.RawQuery, found = query.Encode(), true
		}
	}
	if !found {
		return text
	}
	return u.String()
}

// isSecret reports whether a parameter of a URL is one, like PostgreSQL's password and sslpassword.
func isSecret(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "password") || strings.Contains(name, "secret") || strings.Contains(name, "token")
}

// Exposed reports whether all users of the machine can read a password in the file.
func (f *File) Exposed(all []Setting) bool {
	if f == nil || !f.Public {
		return false
	}
	for _, s := range all {
		if text, is := f.entries[s.Key].value.(string); is && s.Secret && redact(text) != text {
			return true
		}
	}
	return false
}

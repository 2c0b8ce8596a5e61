package web

import "strings"

// BearerToken returns the token of a value of the header Authorization, "" for another scheme.
// The scheme may be in any letter case (RFC 9110).
func BearerToken(value string) string {
	scheme, token, _ := strings.Cut(strings.TrimSpace(value), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

package web

import (
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
)

// BaseURL returns the scheme and host under which the client reached us, without a trailing slash. Behind a trusted
// proxy they are what X-Forwarded-Proto and X-Forwarded-Host say. A host that is none is not repeated: the address of
// the listener stands in for it. The client chooses the host, so it is for what this client alone is shown.
func BaseURL(w http.ResponseWriter, r *http.Request) string {
	host := r.Host
	if h := forwarded(r, "X-Forwarded-Host"); h != "" && fromTrustedProxy(w, r) {
		host = h
	}
	if !isHost(host) {
		host = ownHost(r)
	}
	return scheme(w, r) + "://" + strings.ToLower(host)
}

// OwnURL returns the address on which the client's connection came in, with its scheme, whatever host the request and
// a proxy name.
func OwnURL(r *http.Request) string { return ownScheme(r) + "://" + ownHost(r) }

// IsHTTPS reports whether the client uses https: with us, or with a trusted proxy that says so by X-Forwarded-Proto.
func IsHTTPS(w http.ResponseWriter, r *http.Request) bool { return scheme(w, r) == "https" }

func scheme(w http.ResponseWriter, r *http.Request) string {
	if proto := strings.ToLower(forwarded(r, "X-Forwarded-Proto")); (proto == "http" || proto == "https") && fromTrustedProxy(w, r) {
		return proto
	}
	return ownScheme(r)
}

func ownScheme(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

// fromTrustedProxy reports whether the headers of the request may be believed.
func fromTrustedProxy(w http.ResponseWriter, r *http.Request) bool {
	a := answerOf(w)
	return a != nil && contains(a.edge.trusted, peerAddr(r))
}

// forwarded returns what the nearest proxy wrote: the last element of the header.
func forwarded(r *http.Request, name string) string {
	values := r.Header[name]
	if len(values) == 0 {
		return ""
	}
	_, last, _ := cutLast(values[len(values)-1])
	return strings.Trim(last, " \t")
}

// ownHost returns the address that the client's connection came in on.
func ownHost(r *http.Request) string {
	if addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && isHost(addr.String()) {
		return addr.String()
	}
	return "localhost"
}

// isHost reports whether s is a host name, an IPv4 address or an IPv6 address in brackets, with or without a port.
func isHost(s string) bool {
	if len(s) > 253+len(":65535") {
		return false
	}
	if rest, ok := strings.CutPrefix(s, "["); ok {
		addr, port, ok := strings.Cut(rest, "]")
		ip, err := netip.ParseAddr(addr)
		return ok && err == nil && ip.Is6() && ip.Zone() == "" && (port == "" || isPort(port))
	}
	name := s
	if i := strings.IndexByte(s, ':'); i >= 0 {
		if !isPort(s[i:]) {
			return false
		}
		name = s[:i]
	}
	for label := range strings.SplitSeq(name, ".") {
		if !isLabel(label) {
			return false
		}
	}
	return true
}

// isPort reports whether s is a colon and a port number.
func isPort(s string) bool {
	n, err := strconv.ParseUint(strings.TrimPrefix(s, ":"), 10, 16)
	return err == nil && n > 0 && s[0] == ':'
}

func isLabel(s string) bool {
	if s == "" || len(s) > 63 || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && !('0' <= c && c <= '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

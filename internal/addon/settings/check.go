package settings

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/countersign/countersign/internal/addon/input"
)

// Limits of what may be written.
const (
	maxText = 10_000 // characters of an owner's own text
	maxNote = 500    // characters of a note
)

var (
	clientIDPattern    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{4,254}$`)
	providerIDPattern  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$`)
	schemePattern      = regexp.MustCompile(`^[a-z][a-z0-9+.-]{0,63}$`)
	packageNamePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+$`)
	domainPattern      = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$`)
	numberPattern      = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?$`)
)

// commonSchemes belong to everybody, so an app can't be opened by them.
var commonSchemes = []string{"http", "https", "file", "ftp", "mailto", "tel", "sms", "data", "javascript", "about", "blob", "content", "intent", "market"}

// checkOwnText holds the value of an owner's own key.
func checkOwnText(text string) (value, problem string) {
	switch {
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return "", "It is not UTF-8 text, or it contains a NUL character"
	case utf8.RuneCountInString(text) > maxText:
		return "", fmt.Sprintf("It is longer than %d characters", maxText)
	}
	return text, ""
}

func checkName(text string) (value, problem string) {
	text = strings.TrimSpace(text)
	return text, input.Line(text, input.MaxTitle)
}

func checkClientID(text string) (value, problem string) {
	text = strings.TrimSpace(text)
	if text != "" && !clientIDPattern.MatchString(text) {
		return "", "A client ID is 5 to 255 letters, digits, dots, dashes and underscores, like 1234567890-abcdef.apps.idp.example"
	}
	return text, ""
}

func checkProviderID(text string) (value, problem string) {
	text = strings.TrimSpace(text)
	if text != "" && !providerIDPattern.MatchString(text) {
		return "", "An app ID is 1 to 128 letters, digits, dots, dashes, colons and underscores; copy it from the provider's dashboard"
	}
	return text, ""
}

func checkScheme(text string) (value, problem string) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "", ""
	case strings.Contains(text, ":") || strings.Contains(text, "/"):
		return "", "Write only the scheme, without ://, like myapp"
	case !schemePattern.MatchString(text):
		return "", "A scheme begins with a letter and has lower-case letters, digits, +, . and - only, like myapp"
	case slices.Contains(commonSchemes, text):
		return "", "The scheme " + text + " is a common scheme; use the messenger app's own"
	}
	return text, ""
}

func checkPackageName(text string) (value, problem string) {
	text = strings.TrimSpace(text)
	if text != "" && (len(text) > 255 || !packageNamePattern.MatchString(text)) {
		return "", "An application ID has two or more parts with dots between them, like com.example.app; each part begins with a letter and has letters, digits and underscores only"
	}
	return text, ""
}

func checkDomain(text string) (value, problem string) {
	text = strings.ToLower(strings.TrimSpace(text))
	switch {
	case text == "":
		return "", ""
	case strings.Contains(text, "://"):
		return "", "Write only the domain, without https://, like chat.example.com"
	case strings.ContainsAny(text, "/:@?#"):
		return "", "Write only the domain, without a path, port or account, like chat.example.com"
	}
	if _, err := netip.ParseAddr(text); err == nil {
		return "", "This is an IP address; deep links need a domain, like chat.example.com"
	}
	ascii, err := idna.Lookup.ToASCII(text)
	if err != nil || len(ascii) > 253 || !domainPattern.MatchString(ascii) {
		return "", "Invalid domain: write it like chat.example.com"
	}
	return ascii, ""
}

// checkSwitch reads a switch: 1, 0, true or false in any case of letters.
func checkSwitch(text string) (on bool, problem string) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "1", "true":
		return true, ""
	case "0", "false":
		return false, ""
	}
	return false, "Invalid value: use 1, 0, true or false"
}

// checkChoice returns the check of a setting that is one of some values. An empty text is
// the first of them.
func checkChoice(choices []Choice) func(text string) (value, problem string) {
	names := make([]string, len(choices))
	for i, c := range choices {
		names[i] = c.Value
	}
	return func(text string) (value, problem string) {
		text = strings.ToLower(strings.TrimSpace(text))
		switch {
		case text == "":
			return names[0], ""
		case !slices.Contains(names, text):
			return "", "Invalid value: use " + strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
		}
		return text, ""
	}
}

func checkBool(text string) (value, problem string) {
	on, problem := checkSwitch(text)
	return strconv.FormatBool(on), problem
}

func checkFlag(text string) (value, problem string) {
	on, problem := checkSwitch(text)
	return map[bool]string{true: "1", false: "0"}[on], problem // as spec 2.6 writes it
}

// checkNumber keeps a number as it was written, in a form that every reader of
// JSON gives back without loss.
func checkNumber(text string) (value, problem string) {
	text = strings.TrimSpace(text)
	if !numberPattern.MatchString(text) {
		return "", "Invalid number: use up to 15 digits before and 15 after the point, like 12 or -0.5"
	}
	return text, ""
}

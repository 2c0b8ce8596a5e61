package iap

import (
	"fmt"
	"net/mail"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/play"
)

// Limits of what may be written.
const (
	maxAudience  = 512 // characters
	maxTestUsers = 100
	// maxLeewayHours bounds how long access continues without the store.
	maxLeewayHours = 24
)

// accountDomain is what the e-mail addresses of Google's service accounts end with.
const accountDomain = ".gserviceaccount.com"

var audiencePattern = regexp.MustCompile(`^[!-~]*$`)

// CheckAudience brings the audience of notifications into the form in which it is stored,
// or says what is wrong with it.
func CheckAudience(text string) (value, problem string) {
	text = strings.TrimSpace(text)
	if len(text) > maxAudience || !audiencePattern.MatchString(text) {
		return "", fmt.Sprintf("Write the audience of the push subscription, like https://site.example/api-addons/iap/notifications/store: up to %d characters without spaces", maxAudience)
	}
	return text, ""
}

// CheckPushAccount brings the e-mail address of a service account into the form in which it
// is stored, or says what is wrong with it.
func CheckPushAccount(text string) (value, problem string) {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == "" {
		return "", ""
	}
	address, err := mail.ParseAddress(text)
	if err != nil || address.Address != text || len(text) > 254 {
		return "", "Write one e-mail address, like push@project.iam.gserviceaccount.com"
	}
	if !strings.HasSuffix(text, accountDomain) {
		return "", "This is not the address of a service account, which ends with " + accountDomain + ". Use the account that the push subscription signs with"
	}
	return text, ""
}

// CheckSubscription brings the name of a pull subscription into the form in which it is stored, or
// says what is wrong with it.
func CheckSubscription(text string) (value, problem string) {
	text = strings.TrimSpace(text)
	if text != "" && !play.ValidSubscription(text) {
		return "", "Write the full name of the pull subscription, like projects/my-project/subscriptions/play-notifications"
	}
	return text, ""
}

// CheckLeeway brings a number of hours into the form in which it is stored, or says what is
// wrong with it. Empty is the default.
func CheckLeeway(text string) (value, problem string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return "", ""
	}
	hours, err := strconv.Atoi(text)
	if err != nil || hours < 0 || hours > maxLeewayHours {
		return "", fmt.Sprintf("Write a whole number of hours, 0 to %d", maxLeewayHours)
	}
	return strconv.Itoa(hours), ""
}

// CheckTestUsers brings a list of users into the form in which it is stored, or says what is
// wrong with it. Commas and line breaks separate them.
func CheckTestUsers(text string) (value, problem string) {
	var users []string
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' }) {
		user := strings.TrimSpace(part)
		if user == "" || slices.Contains(users, user) {
			continue
		}
		if problem := input.UserID(user); problem != "" {
			return "", input.Shorten(user) + ": " + problem
		}
		users = append(users, user)
	}
	if len(users) > maxTestUsers {
		return "", fmt.Sprintf("There are %d users; the list holds up to %d", len(users), maxTestUsers)
	}
	return strings.Join(users, ", "), ""
}

// ParseUsers reads what [CheckTestUsers] stores.
func ParseUsers(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ", ")
}

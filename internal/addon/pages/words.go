package pages

import "strings"

// groupID is the id of a group's heading.
func groupID(title string) string {
	return "g-" + strings.ReplaceAll(strings.ToLower(title), " ", "-")
}

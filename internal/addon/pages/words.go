package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/people"
)

// thousands is a number as people read it: 1,234.
func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// span returns which part of a list is shown: "Entries 101–150 of 1,240".
func span(noun string, first, last, all int64) string {
	if last < first {
		return ""
	}
	return fmt.Sprintf("%s %s–%s of %s", noun, thousands(first), thousands(last), thousands(all))
}

// indented is JSON as people read it.
func indented(text []byte) string {
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return string(text)
	}
	return b.String()
}

// through names the front end that an actor used.
func through(f people.Face) string {
	switch f {
	case people.FaceCommand:
		return "command line"
	case people.FaceAPI:
		return "API"
	}
	return "page"
}

// who names an actor for people.
func who(kind people.Kind, id string) string {
	switch kind {
	case people.KindKey:
		return "API credentials " + id
	case people.KindVisitor:
		return "Not signed in"
	}
	return id
}

// groupID is the id of a group's heading.
func groupID(title string) string {
	return "g-" + strings.ReplaceAll(strings.ToLower(title), " ", "-")
}

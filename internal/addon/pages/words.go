package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/people"
)

// span returns which part of a list is shown: "Entries 101–150 of 1,240".
func span(noun string, first, last, all int64) string {
	if last < first {
		return ""
	}
	return fmt.Sprintf("%s %s–%s of %s", noun, frame.Thousands(first), frame.Thousands(last), frame.Thousands(all))
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

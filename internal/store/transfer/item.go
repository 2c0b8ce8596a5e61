package transfer

import (
	"fmt"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/store/storedb"
)

// ReadItem reads one JSON object with the members of an item's line into an item. Members
// that it does not name stay as they are, and type may be left out. workspace is the username
// of the item's workspace, "" for any; ReadItem returns the one that is named, if any.
// Its errors are of kind Invalid.
func ReadItem(text []byte, item *storedb.Item, workspace string) (string, error) {
	line := lineOfItem(withOwnMedia(*item), workspace)
	if err := decodeLine(text, &line); err != nil {
		return "", fault.Invalid(fault.CodeInvalid, "The item can't be read: "+err.Error())
	}
	switch {
	case line.Type != "item":
		return "", fault.Invalid(fault.CodeInvalid, fmt.Sprintf("invalid type %q: expected item, or no type", line.Type))
	case workspace != "" && line.Workspace != workspace:
		return "", fault.Invalid(fault.CodeInvalid, fmt.Sprintf("the item names the workspace %q, not %q", line.Workspace, workspace))
	}
	read := line.item()
	read.WorkspaceID, read.Licensing = item.WorkspaceID, item.Licensing
	if rule := line.Licensing.licensing(); rule != nil {
		read.Licensing = *rule
	}
	*item = read
	return line.Workspace, nil
}

// withOwnMedia returns the item with copies of the addresses that it points to: reading
// a member would change them in place.
func withOwnMedia(i storedb.Item) storedb.Item {
	for _, link := range []**string{&i.Media.PreviewImage, &i.Media.PreviewVideo, &i.Media.PreviewAudio} {
		if *link != nil {
			text := **link
			*link = &text
		}
	}
	return i
}

package validation

import "strings"

// The paths of the default pictures of items, which the API serves.
const (
	DefaultThumbnail = "/media/default/thumbnail.png"
	DefaultPreview   = "/media/default/preview.png"
)

// ItemText is an item as the API prints it (spec 2.3). Its thumbnail and its preview image
// may be missing; [ItemText.With] puts default pictures in their place, because picture
// loaders of clients break on an empty address.
type ItemText struct {
	text string
	// thumbnail and preview are where an address is missing in text, 0 for nowhere.
	thumbnail, preview int
}

// newItemText finds what is missing in the body of an item. Names with plain quotes are
// members: quotes within a string are escaped.
func newItemText(body string) ItemText {
	return ItemText{text: body, thumbnail: endOf(body, `"media":{"thumbnail":"`), preview: endOf(body, `"preview_image":"`)}
}

// endOf returns where an empty string that follows name ends, or 0.
func endOf(body, name string) int {
	at := strings.Index(body, name) + len(name)
	if at < len(name) || body[at] != '"' {
		return 0
	}
	return at
}

// Complete reports whether the item has its pictures, so that [ItemText.Text] is all of it.
func (i ItemText) Complete() bool { return i.thumbnail == 0 && i.preview == 0 }

// Text is the JSON of the item, with an empty string for each picture that is missing.
func (i ItemText) Text() string { return i.text }

// With is the JSON of the item, with the default pictures of a store at the URL base.
func (i ItemText) With(base string) string {
	if i.Complete() {
		return i.text
	}
	var b strings.Builder
	from := 0
	for _, missing := range []struct {
		at   int
		path string
	}{{i.thumbnail, DefaultThumbnail}, {i.preview, DefaultPreview}} {
		if missing.at > 0 {
			b.WriteString(i.text[from:missing.at])
			b.WriteString(base)
			b.WriteString(missing.path)
			from = missing.at
		}
	}
	b.WriteString(i.text[from:])
	return b.String()
}

package validation

import "strings"

// The paths of the default pictures of items, which the API serves.
const (
	DefaultThumbnail = "/media/default/thumbnail.png"
	DefaultPreview   = "/media/default/preview.png"
)

// ItemText is an item as the API prints it (spec 2.3). Its thumbnail and its preview image
// may be missing; [ItemText.With] puts default pictures in their place, because picture
// loaders of clients break on an empty address. Uploaded files have addresses without the
// store's own, which [ItemText.With] completes.
type ItemText struct {
	text string
	// gaps are where the address of the store is missing in text, by the order of addressed; 0
	// for nowhere. An item has less than 2 GiB.
	gaps [4]int32
}

// addressed are the members with addresses in the order in which an item has them, and the
// default picture of those that have one.
var addressed = [4]struct{ name, standard string }{
	{`"media":{"thumbnail":"`, DefaultThumbnail}, {`"preview_image":"`, DefaultPreview}, {`"preview_video":"`, ""}, {`"preview_audio":"`, ""},
}

// newItemText finds what is missing in the body of an item. Names with plain quotes are
// members: quotes within a string are escaped.
func newItemText(body string) ItemText {
	i := ItemText{text: body}
	for n, member := range addressed {
		at := strings.Index(body, member.name) + len(member.name)
		if at >= len(member.name) && (body[at] == '/' || body[at] == '"' && member.standard != "") {
			i.gaps[n] = int32(at)
		}
	}
	return i
}

// Complete reports whether the item has whole addresses, so that [ItemText.Text] is all of it.
func (i ItemText) Complete() bool { return i.gaps == [4]int32{} }

// Text is the JSON of the item, with an empty string for each picture that is missing.
func (i ItemText) Text() string { return i.text }

// With is the JSON of the item, with the default pictures and the uploaded files of a store at
// the URL base.
func (i ItemText) With(base string) string {
	if i.Complete() {
		return i.text
	}
	var b strings.Builder
	from := int32(0)
	for n, at := range i.gaps {
		if at == 0 {
			continue
		}
		b.WriteString(i.text[from:at])
		b.WriteString(base)
		if i.text[at] == '"' {
			b.WriteString(addressed[n].standard)
		}
		from = at
	}
	b.WriteString(i.text[from:])
	return b.String()
}

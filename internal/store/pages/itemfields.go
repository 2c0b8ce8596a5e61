package pages

import (
	"net/url"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
)

// itemField is a field about a member of an item. Its name is that of the member in the API.
type itemField struct {
	frame.Field
	of func(store.Item) string
	// set takes what was typed. Its error says what would be right.
	set func(*store.Item, string) error
}

// itemSection is a group of fields.
type itemSection struct {
	title, lead string
	fields      []itemField
	upload      bool // its values can be uploaded as files
}

// itemSections are the fields of an item from top to bottom.
var itemSections = []itemSection{
	{title: "Basics", fields: []itemField{
		itemText(frame.Field{Name: "name", Label: "Name", Required: true}, func(i *store.Item) *string { return &i.Name }),
		itemText(frame.Field{Name: "description", Label: "Description", Kind: frame.TextArea}, func(i *store.Item) *string { return &i.Description }),
		{frame.Field{Name: "kind", Label: "Kind", Kind: frame.Select, Choices: kindChoices, Help: "Decides which preview files the API prints."},
			func(i store.Item) string { return string(i.Kind) }, func(i *store.Item, text string) error { i.Kind = store.Kind(text); return nil }},
		itemText(frame.Field{Name: "category", Label: "Category"}, func(i *store.Item) *string { return &i.Category }),
		itemText(frame.Field{Name: "sub_category", Label: "Sub-category"}, func(i *store.Item) *string { return &i.SubCategory }),
		itemWords(frame.Field{Name: "tags", Label: "Tags"}, func(i *store.Item) *countersign.List { return &i.Tags }),
		itemWords(frame.Field{Name: "options", Label: "Options"}, func(i *store.Item) *countersign.List { return &i.Options }),
	}},
	{title: "Version and price", fields: []itemField{
		{frame.Field{Name: "version", Label: "Version", Help: "Numbers with dots.", Example: "1.2.3"},
			func(i store.Item) string { return string(i.Version) }, func(i *store.Item, text string) error { i.Version = countersign.Version(text); return nil }},
		itemText(frame.Field{Name: "notes", Label: "What changed", Kind: frame.TextArea, Rows: 3, Help: "For the history of versions, together with a new version. The API does not print it."}, func(i *store.Item) *string { return &i.Notes }),
		itemAmount(frame.Field{Name: "price.regular", Label: "Price, Regular license"}, func(i *store.Item) *countersign.Money { return &i.Price.Regular }),
		itemAmount(frame.Field{Name: "price.extended", Label: "Price, Extended license"}, func(i *store.Item) *countersign.Money { return &i.Price.Extended }),
		itemText(frame.Field{Name: "currency", Label: "Currency", Required: true, Help: "Three letters, as in ISO 4217. Amounts are not converted.", Example: "USD"}, func(i *store.Item) *string { return &i.Currency }),
		{frame.Field{Name: "support", Label: "Support", Kind: frame.Select, Choices: supportChoices, Help: "Without support, the API leaves the end of support out of its purchases."},
			func(i store.Item) string { return supportValue(i.Support) }, func(i *store.Item, text string) error { i.Support = text == supportValue(true); return nil }},
	}},
	{title: "Media", lead: mediaRule, upload: true, fields: []itemField{
		itemText(frame.Field{Name: "media.thumbnail", Label: "Thumbnail", Help: "Address of a picture. Empty is the store's default picture.", Example: "https://cdn.example/thumb.png"}, func(i *store.Item) *string { return &i.Media.Thumbnail }),
		itemLink(frame.Field{Name: "media.preview_image", Label: "Preview image", Help: "For video and other items. Empty is the store's default picture."}, func(i *store.Item) **string { return &i.Media.PreviewImage }),
		itemLink(frame.Field{Name: "media.preview_video", Label: "Preview video", Help: "For video items."}, func(i *store.Item) **string { return &i.Media.PreviewVideo }),
		itemLink(frame.Field{Name: "media.preview_audio", Label: "Preview audio", Help: "For audio items."}, func(i *store.Item) **string { return &i.Media.PreviewAudio }),
		itemLines(frame.Field{Name: "media.screenshots", Label: "Screenshots", Help: "One address a line."}, func(i *store.Item) *[]string { return &i.Media.Screenshots }),
	}},
	{title: "Publication", fields: []itemField{
		itemText(frame.Field{Name: "demo_link", Label: "Demo", Help: "Address of a demo.", Example: "https://demo.example/"}, func(i *store.Item) *string { return &i.DemoLink }),
		{frame.Field{Name: "published_at", Label: "Published", Required: true, Help: "A day, which is its start in UTC, or a time in UTC.", Example: "2027-01-31T15:04:05Z"},
			func(i store.Item) string { return i.PublishedAt.String() }, setPublished},
	}},
}

// mediaRule says which media the API prints (spec 2.3).
const mediaRule = "Audio items have a preview audio and no preview image. Video items have a preview image and a preview video. Other items have a preview image. The API leaves out what the kind does not have; it stays saved here."

var kindNames = map[store.Kind]string{store.KindAudio: "Audio", store.KindVideo: "Video", store.KindOther: "Other"}

var kindChoices = []frame.Choice{
	{Value: string(store.KindOther), Label: "Other"}, {Value: string(store.KindAudio), Label: "Audio"}, {Value: string(store.KindVideo), Label: "Video"},
}

var supportChoices = []frame.Choice{{Value: supportValue(false), Label: "No"}, {Value: supportValue(true), Label: "Yes, purchases may have support"}}

func supportValue(has bool) string {
	if has {
		return "yes"
	}
	return "no"
}

func itemText(f frame.Field, of func(*store.Item) *string) itemField {
	return itemField{f, func(i store.Item) string { return *of(&i) }, func(i *store.Item, text string) error { *of(i) = text; return nil }}
}

func itemWords(f frame.Field, of func(*store.Item) *countersign.List) itemField {
	f.Help = "One per line."
	return itemLines(f, func(i *store.Item) *[]string { return (*[]string)(of(i)) })
}

// itemLines is a list with one entry a line.
func itemLines(f frame.Field, of func(*store.Item) *[]string) itemField {
	f.Kind, f.Rows = frame.TextArea, 3
	return itemField{f, func(i store.Item) string { return strings.Join(*of(&i), "\n") }, func(i *store.Item, text string) error {
		*of(i) = linesOf(text)
		return nil
	}}
}

// linesOf are the lines of a text that are not empty.
func linesOf(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func itemAmount(f frame.Field, of func(*store.Item) *countersign.Money) itemField {
	f.Example = "49.00"
	return itemField{f, func(i store.Item) string { return of(&i).String() }, func(i *store.Item, text string) (err error) {
		if text == "" {
			text = "0"
		}
		if *of(i), err = countersign.ParseMoney(text); err != nil {
			return wrongField(f.Name, "Type an amount with a point and at most two decimals, for example 49.00.")
		}
		return nil
	}}
}

// itemLink is an address that may be missing.
func itemLink(f frame.Field, of func(*store.Item) **string) itemField {
	read := func(i store.Item) string {
		if link := *of(&i); link != nil {
			return *link
		}
		return ""
	}
	return itemField{f, read, func(i *store.Item, text string) error {
		*of(i) = nil
		if text != "" {
			*of(i) = &text
		}
		return nil
	}}
}

func setPublished(i *store.Item, text string) error {
	day, err := time.Parse(time.DateOnly, text)
	i.PublishedAt = countersign.At(day)
	if err != nil {
		i.PublishedAt, err = countersign.ParseTimestamp(text)
	}
	if err != nil {
		return wrongField("published_at", "Type a day, for example 2027-01-31, or a time, for example 2027-01-31T15:04:05Z.")
	}
	return nil
}

// itemFields are all fields of an item.
func itemFields() (all []itemField) {
	for _, s := range itemSections {
		all = append(all, s.fields...)
	}
	return all
}

// itemFieldNames are the names of the fields of the form from top to bottom.
func itemFieldNames() (names []string) {
	for _, f := range itemFields() {
		names = append(names, f.Name)
	}
	return append(names, "id")
}

// typedItem puts what was posted in the place of what an item has. A field that was not
// changed leaves its value exactly as it is.
func typedItem(i store.Item, in url.Values) (store.Item, frame.Errors) {
	var wrong frame.Errors
	for _, f := range itemFields() {
		text := typedText(in, f.Name)
		if text == asTyped(f.of(i)) {
			continue
		}
		if err := f.set(&i, text); err != nil {
			errs, _ := frame.FormErrors(err)
			wrong = append(wrong, errs...)
		}
	}
	return i, wrong
}

func typedText(in url.Values, name string) string { return asTyped(in.Get(name)) }

// asTyped is a text without what a form adds to it.
func asTyped(text string) string { return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")) }

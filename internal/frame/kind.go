package frame

// Kind describes how much weight a button or a message has.
type Kind string

// The kinds. Buttons know Primary, Plain and Danger; badges and alerts know Good, Note, Warning and Danger, and badges
// also Plain.
const (
	Plain   Kind = ""
	Primary Kind = "primary"
	Good    Kind = "good"
	Note    Kind = "note"
	Warning Kind = "warning"
	Danger  Kind = "danger"
)

// Link is a place to go to. It renders as a link in the text, or as a button when it is a [LinkButton].
type Link struct {
	Label string
	// Path is a path of ours, without the path prefix, or a whole URL.
	Path string
	// Icon is the name of a file in icons, without its ending; "" is none.
	Icon string
}

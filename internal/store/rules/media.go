package rules

import "regexp"

// MediaPath is the beginning of the paths at which the store serves uploaded files.
const MediaPath = "/media/"

// MediaName is a regular expression for the name of an uploaded file: random letters and digits,
// and the end of its format.
const MediaName = `[a-z2-7]{26}\.[a-z0-9]{3,4}`

// uploadedPath is the path of an uploaded file. The store's own address is put before it where
// the API prints it.
var uploadedPath = regexp.MustCompile(`^` + MediaPath + MediaName + `$`)

// checkMediaURL wants an absolute web address, the path of an uploaded file, or nothing.
func checkMediaURL(what, text string) error {
	if uploadedPath.MatchString(text) {
		return nil
	}
	return checkURL(what, text)
}

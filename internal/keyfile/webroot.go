package keyfile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/countersign/countersign/internal/fault"
)

// webFiles are the files by which a web root is recognized. The last is the addon's own.
var webFiles = []string{"index.php", "index.html", ".htaccess", "wp-config.php", "update.php"}

// WebRoot is a folder that a web server seems to serve, with all folders in it.
type WebRoot struct {
	// Dir is the folder, and File the path of the file by which it was recognized.
	Dir, File string
	// Outside is the path of a data folder that is not in it.
	Outside string
}

// FindWebRoot finds the web root that a data folder lies in, which need not be there yet:
// the highest of the folder and its parents that holds a file of a site. The root of the
// file system is not one. Both the path as it is given and the one that its symbolic links
// lead to count, because web servers follow links.
func FindWebRoot(dir string) (root WebRoot, found bool) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return WebRoot{}, false
	}
	if root, found = highestWebRoot(path); !found {
		root, found = highestWebRoot(Resolved(path))
	}
	if found {
		if root.Outside = filepath.Join(filepath.Dir(root.Dir), filepath.Base(path)); root.Outside == root.Dir {
			root.Outside += "-data"
		}
	}
	return root, found
}

func highestWebRoot(path string) (root WebRoot, found bool) {
	for dir := path; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		for _, name := range slices.Backward(webFiles) {
			if file := filepath.Join(dir, name); isFile(file) {
				root, found = WebRoot{Dir: dir, File: file}, true
			}
		}
	}
	return root, found
}

// Resolved follows the links in the part of an absolute path that is there.
func Resolved(path string) string {
	rest := ""
	for dir := path; ; dir, rest = filepath.Dir(dir), filepath.Join(filepath.Base(dir), rest) {
		if real, err := filepath.EvalSymlinks(dir); err == nil || dir == filepath.Dir(dir) {
			return filepath.Join(real, rest)
		}
	}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// OutsideWeb is an error of kind Conflict (in_web_root) for a data folder that a web server
// would serve. Call it before a data folder is made; one that is in use is for doctor.
func OutsideWeb(dir string) error {
	root, found := FindWebRoot(dir)
	if !found {
		return nil
	}
	return fault.Conflict("in_web_root", fmt.Sprintf("The data folder %s would be inside a web root (%s is there). Anyone could download its key file; nothing was written. "+
		"Use a folder outside, such as %s", dir, root.File, root.Outside))
}

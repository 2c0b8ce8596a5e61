package app

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
)

var (
	packageName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+$`)
	bundleID    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*(\.[A-Za-z0-9][A-Za-z0-9-]*)+$`)
	version     = regexp.MustCompile(`^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\+([1-9][0-9]*)$`)
)

// maxBuild is the largest versionCode that Google Play takes.
const maxBuild = 2_100_000_000

// CheckPackageName returns an error for an invalid application id of an Android app (spec 8): two or more parts joined
// by dots, each a letter and then letters, digits and underscores. The sample name com.example is refused.
func CheckPackageName(name string) error {
	return checkID("package_name", name, packageName, "letters, digits and _, each beginning with a letter")
}

// CheckBundleID returns an error for an invalid bundle id of an iOS app (spec 8): two or more parts joined by dots, of
// letters, digits and hyphens.
func CheckBundleID(id string) error {
	return checkID("bundle_id", id, bundleID, "letters, digits and -")
}

// checkID returns an error for an id that does not fit a pattern, or is the sample. what begins the error's code.
func checkID(what, id string, pattern *regexp.Regexp, parts string) error {
	switch lower := strings.ToLower(id); {
	case !pattern.MatchString(id):
		return malformed(what+"_malformed", "needs two or more words joined by dots, of "+parts+", like com.yourname.app")
	case lower == "com.example" || strings.HasPrefix(lower, "com.example."):
		return malformed(what+"_sample", "must be your own: the stores refuse com.example; use your reversed domain, like com.yourname.app")
	}
	return nil
}

// CheckVersion returns an error for an invalid version of an app, which is <version>+<build_number> (spec 9): three numbers
// joined by dots, and a build number from 1 to 2,100,000,000, the largest that Google Play takes.
func CheckVersion(text string) error {
	parts := version.FindStringSubmatch(text)
	if parts == nil {
		return malformed("version_malformed", "is <version>+<build_number>, like 1.2.3+45")
	}
	if build, err := strconv.ParseUint(parts[4], 10, 32); err != nil || build > maxBuild {
		return malformed("build_number_too_large", "has a build number of at most 2100000000, the largest that Google Play takes")
	}
	return nil
}

// malformed words what is wrong with the thing that the caller names.
func malformed(code, message string) error {
	return &countersign.Error{Kind: countersign.KindInvalid, Code: code, Message: message}
}

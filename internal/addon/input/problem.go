package input

import "fmt"

// Severity distinguishes what stops a publish from what the owner ought to know.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// The codes of problems.
const (
	CodePushAppIDMissing         = "push_app_id_missing"
	CodePushTimelineAppIDMissing = "push_timeline_app_id_missing"
	CodeAppNameMissing           = "app_name_missing"
	CodeProductWithoutPackage    = "product_without_package"
	CodePackageNameMissing       = "package_name_missing"
	CodeServiceAccountMissing    = "service_account_missing"
	CodeProductsMissing          = "products_missing"
	CodeTestModeOn               = "test_mode_on"
	CodePackageWithoutProduct    = "package_without_product"
	CodeOneTimeNotMapped         = "one_time_product_not_mapped"
	// What a publish changes for members.
	CodeTestModeMembers    = "test_mode_members"
	CodeTestModeEnds       = "test_mode_ends"
	CodeApplicationChanged = "application_changed"
)

// ProblemCodes lists the codes of all problems, for front ends that have a next step for
// each.
func ProblemCodes() []string {
	return []string{
		CodePushAppIDMissing, CodePushTimelineAppIDMissing, CodeAppNameMissing, CodeProductWithoutPackage, CodePackageNameMissing,
		CodeServiceAccountMissing, CodeProductsMissing, CodeTestModeOn, CodePackageWithoutProduct, CodeOneTimeNotMapped,
		CodeTestModeMembers, CodeTestModeEnds, CodeApplicationChanged,
	}
}

// Problem is something about the settings as a whole.
type Problem struct {
	Severity Severity `json:"severity"`
	// Code is stable, for programs and for what a front end says to do.
	Code string `json:"code"`
	Key  string `json:"key"` // the setting it is about, "" for none
	Text string `json:"text"`
	// Package is the id of the package that it is about, 0 for none.
	Package int64 `json:"-"`
}

// Asks reports whether a front end asks for confirmation before it publishes.
func (p Problem) Asks() bool { return p.Code == CodeTestModeMembers }

// Command is the command that repairs the problem, for findings of doctor and for the
// command line. Words in capitals are for the reader to fill in.
func (p Problem) Command() string {
	switch p.Code {
	case CodeProductWithoutPackage:
		return fmt.Sprintf("countersign addon package add %d NAME", p.Package)
	case CodeServiceAccountMissing:
		return "countersign addon iap service-account FILE"
	case CodeProductsMissing, CodeOneTimeNotMapped:
		return "countersign addon iap product add STORE_ID PACKAGE_ID"
	case CodePackageWithoutProduct:
		return fmt.Sprintf("countersign addon iap product add STORE_ID %d", p.Package)
	case CodePackageNameMissing, CodeApplicationChanged:
		return "countersign addon iap set " + p.Key + " APPLICATION_ID"
	case CodeTestModeOn, CodeTestModeMembers:
		return "countersign addon iap set " + p.Key + " 0"
	case CodeTestModeEnds:
		return "countersign addon iap set " + p.Key + " 1"
	}
	return "countersign addon settings set " + p.Key + " VALUE"
}

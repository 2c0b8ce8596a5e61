package countersign

// License is a license file as a store gives it: `data` of an issue and of a move.
type License struct {
	// License is the file's text, a compact JWS.
	License string `json:"license"`
	// LicenseID names the license on the list of revoked ones and for questions about it: the `jti` of the text.
	LicenseID string `json:"license_id"`
}

// LicenseDomains is `data` of an error that says for which domains a purchase's licenses are in use.
type LicenseDomains struct {
	Domains List `json:"domains"`
	// Licenses are the same, in the same order, with their dates.
	Licenses []LicenseInUse `json:"licenses"`
}

// LicenseInUse says for which domain a license is in use, and since when.
type LicenseInUse struct {
	Domain   string    `json:"domain"`
	IssuedAt Timestamp `json:"issued_at"`
}

// LicenseRevocation is the `data` of the response to a buyer's revocation.
type LicenseRevocation struct {
	// LicenseID names it on the list of revoked ones.
	LicenseID string    `json:"license_id"`
	Domain    string    `json:"domain"`
	RevokedAt Timestamp `json:"revoked_at"`
}

// LicenseCheck is the `data` of a license check.
type LicenseCheck struct {
	Valid bool   `json:"valid"`
	Code  string `json:"code"` // one of the Check constants
}

// The codes of a [LicenseCheck]. Valid is true with the first two.
const (
	CheckValid = "valid"
	// CheckSupportLapsed: good, but support has ended.
	CheckSupportLapsed = "support_lapsed"
	// CheckNotFound: no such code or license, or the asker may not know what became of it.
	CheckNotFound    = "not_found"
	CheckRefunded    = "refunded"
	CheckChargedBack = "charged_back"
	CheckRevoked     = "revoked" // the purchase, or the license, which may have been moved away
	// CheckItemMismatch: of another item than the one that was asked about.
	CheckItemMismatch = "item_mismatch"
	// CheckDomainMismatch: the license is for another domain.
	CheckDomainMismatch = "domain_mismatch"
	// CheckDomainNotActivated: the purchase has no license for the domain, and may have one.
	CheckDomainNotActivated = "domain_not_activated"
	// CheckLimitReached: the purchase has no license for the domain, and none is left.
	CheckLimitReached = "limit_reached"
)

// RevokedLicenses is `data` of the list of licenses that are not good any more.
type RevokedLicenses struct {
	// List is a compact JWS, signed with a key for licenses.
	List string `json:"list"`
}

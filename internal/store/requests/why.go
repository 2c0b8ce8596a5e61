package requests

import "github.com/countersign/countersign"

// Reasons of calls that have no error code.
const (
	// ReasonGone means that the client left before the response.
	ReasonGone = "client_gone"
	// ReasonUnknown stands for an error without a code.
	ReasonUnknown = "failed"
	// CheckPrefix stands before the code of a license check that was answered with not valid.
	CheckPrefix = "check_"
)

// Why returns in a sentence why a call failed, by its reason, the error's code; for an empty
// reason, that it was valid.
func Why(reason string) string {
	if text := why[reason]; text != "" {
		return text
	}
	return "The call failed with the error code " + reason + "."
}

var why = map[string]string{
	"":                                  "The call was valid.",
	countersign.CodeKeyMissing:          "The call had no API key.",
	countersign.CodeKeyUnknown:          "No workspace has this API key: it may have a typing error, or belong to another store.",
	countersign.CodeKeyRevoked:          "The API key was revoked.",
	countersign.CodeKeyExpired:          "The API key has expired, or its value was replaced and the overlap is over.",
	countersign.CodeKeyConflict:         "The call had two different API keys.",
	countersign.CodeKeyScope:            "A publishable key may only validate purchase codes of its item.",
	countersign.CodeKeyInQuery:          "The workspace refuses API keys in the query; send the key in a header or in the body.",
	countersign.CodeItemNotFound:        "The workspace has no item with this id.",
	countersign.CodeNoItems:             "The workspace has no items.",
	countersign.CodePurchaseNotFound:    "No purchase of the workspace has this code, or the publishable key is for another item.",
	countersign.CodePurchaseRefunded:    "The purchase was refunded.",
	countersign.CodePurchaseChargedBack: "The purchase was charged back.",
	countersign.CodePurchaseRevoked:     "The purchase was revoked.",
	countersign.CodeDomainInvalid:       "No license can be issued for this domain.",
	countersign.CodeLimitReached:        "The purchase has licenses for as many domains as its item allows.",
	countersign.CodeMovesUsed:           "The license was moved as often as its item allows in a year.",
	countersign.CodeMoveTooSoon:         "The last move of the license was too short a time ago.",
	countersign.CodeDomainNotActivated:  "The domain to move from has no license of this purchase.",
	countersign.CodeFromMissing:         "The purchase has licenses for several domains, and the call did not say from which to move.",
	countersign.CodeDomainFree:          "A test domain needs no move.",
	"license_ended":                     "The license was moved or revoked before.",
	"license_not_found":                 "The purchase has no such license.",
	countersign.CodeParamConflict:       "A parameter was sent twice with different values.",
	countersign.CodeBadBody:             "The body could not be read: invalid JSON, an invalid form, or a wrong type.",
	countersign.CodeBadQuery:            "The query could not be read: its escape sequences are not valid.",
	countersign.CodeNotFound:            "The API has no such path.",
	countersign.CodeMethodNotAllowed:    "The endpoint does not allow this method.",
	countersign.CodeBodyTooLarge:        "The body was too large.",
	countersign.CodeUnsupportedType:     "The body's content type is neither JSON nor a form.",
	countersign.CodeUnsupportedEncoding: "The body is compressed, which the store does not read.",
	countersign.CodeRateLimited:         "The address had too many failed calls in the last minute.",
	countersign.CodeQuotaExceeded:       "The workspace used up its quota for this minute.",
	countersign.CodeInternal:            "The store had an internal error; the cause is in the server's error log.",
	countersign.CodeUnavailable:         "The store's database could not be reached.",
	countersign.CodeBusy:                "The store's database was busy; nothing was written.",
	countersign.CodeMigrating:           "The store's database was being migrated to a new version.",
	countersign.CodeOutcomeUnknown:      "The store can't say whether the change was written.",
	ReasonGone:                          "The client closed the connection before the response.",
	ReasonUnknown:                       "The call failed.",

	CheckPrefix + countersign.CheckNotFound:           "No purchase has this code or license, or the caller may not know what became of it.",
	CheckPrefix + countersign.CheckRefunded:           "The license is not valid: the purchase was refunded.",
	CheckPrefix + countersign.CheckChargedBack:        "The license is not valid: the purchase was charged back.",
	CheckPrefix + countersign.CheckRevoked:            "The license is not valid: it or its purchase was revoked, or it was moved to another domain.",
	CheckPrefix + countersign.CheckItemMismatch:       "The license is of another item than the one that the call asked about.",
	CheckPrefix + countersign.CheckDomainMismatch:     "The license is for another domain than the one that the call asked about.",
	CheckPrefix + countersign.CheckLimitReached:       "The domain has no license of this purchase, and the item allows no further domain.",
	CheckPrefix + countersign.CheckDomainNotActivated: "The domain has no license of this purchase.",
}

package countersign

import "strings"

// The messages of the envelope (spec 7; the ones after MsgInvalidPurchaseCode are this project's own).
const (
	MsgInvalidRequest      = "Invalid request"
	MsgNoItems             = "No items found"
	MsgItemNotFound        = "Item Not Found"
	MsgInvalidPurchaseCode = "Invalid purchase code"

	MsgNotFound         = "Not found"
	MsgMethodNotAllowed = "Method not allowed"
	MsgTooLarge         = "Request too large"
	MsgUnsupportedType  = "Unsupported content type"
	MsgLimited          = "Too many requests"
	MsgInternal         = "Internal error"
	MsgUnavailable      = "Service unavailable"
)

// The values of the header X-Error-Code: the reason of an error, for machines.
const (
	CodeKeyMissing  = "key_missing"
	CodeKeyUnknown  = "key_unknown"
	CodeKeyRevoked  = "key_revoked"
	CodeKeyExpired  = "key_expired"
	CodeKeyConflict = "key_conflict" // two different keys in one request
	CodeKeyScope    = "key_scope"    // a publishable key outside of what it may do
	CodeKeyInQuery  = "key_in_query" // the workspace refuses keys in the query

	CodeItemNotFound        = "item_not_found"
	CodeNoItems             = "no_items"
	CodePurchaseNotFound    = "purchase_not_found"
	CodePurchaseRefunded    = "purchase_refunded"
	CodePurchaseChargedBack = "purchase_charged_back"
	CodePurchaseRevoked     = "purchase_revoked"

	CodeDomainInvalid      = "domain_invalid"       // no domain that a license can be for
	CodeLimitReached       = "limit_reached"        // no domain is left for a purchase code
	CodeMovesUsed          = "moves_used"           // as many moves a year as the item allows
	CodeMoveTooSoon        = "move_too_soon"        // the last move was too short a time ago
	CodeDomainNotActivated = "domain_not_activated" // the domain to move from is not in use
	CodeFromMissing        = "from_missing"         // several domains are in use, and the one to move from was not said
	CodeDomainFree         = "domain_free"          // a test domain, which needs no move

	CodeParamConflict = "param_conflict" // one parameter with two different values
	CodeBadBody       = "bad_body"
	CodeBadQuery      = "bad_query"

	CodeNotFound            = "not_found" // no such path
	CodeMethodNotAllowed    = "method_not_allowed"
	CodeBodyTooLarge        = "body_too_large"
	CodeUnsupportedType     = "unsupported_type"
	CodeUnsupportedEncoding = "unsupported_encoding" // the body is compressed
	CodeRateLimited         = "rate_limited"
	CodeQuotaExceeded       = "quota_exceeded"
	CodeInternal            = "internal"
	CodeUnavailable         = "unavailable"
	CodeBusy                = "busy"             // others write; nothing was written
	CodeMigrating           = "migrating"        // the database is being migrated to a new version
	CodeMigrationFailed     = "migration_failed" // it can't be migrated, which is tried again and again
	CodeOutcomeUnknown      = "outcome_unknown"  // the change may have been written: look before it is repeated
)

// codeKinds maps each code to its kind. A client needs it for stores that answer 200 to everything.
var codeKinds = map[string]Kind{
	CodeKeyMissing:          KindUnauthorized,
	CodeKeyUnknown:          KindUnauthorized,
	CodeKeyRevoked:          KindUnauthorized,
	CodeKeyExpired:          KindUnauthorized,
	CodeKeyConflict:         KindInvalid,
	CodeKeyScope:            KindForbidden,
	CodeKeyInQuery:          KindForbidden,
	CodeItemNotFound:        KindNotFound,
	CodeNoItems:             KindNotFound,
	CodePurchaseNotFound:    KindNotFound,
	CodePurchaseRefunded:    KindNotFound,
	CodePurchaseChargedBack: KindNotFound,
	CodePurchaseRevoked:     KindNotFound,
	CodeDomainInvalid:       KindInvalid,
	CodeLimitReached:        KindConflict,
	CodeMovesUsed:           KindConflict,
	CodeMoveTooSoon:         KindConflict,
	CodeDomainNotActivated:  KindConflict,
	CodeFromMissing:         KindInvalid,
	CodeDomainFree:          KindInvalid,
	CodeParamConflict:       KindInvalid,
	CodeBadBody:             KindInvalid,
	CodeBadQuery:            KindInvalid,
	CodeNotFound:            KindNotFound,
	CodeMethodNotAllowed:    KindMethodNotAllowed,
	CodeBodyTooLarge:        KindTooLarge,
	CodeUnsupportedType:     KindUnsupportedType,
	CodeUnsupportedEncoding: KindUnsupportedType,
	CodeRateLimited:         KindLimited,
	CodeQuotaExceeded:       KindLimited,
	CodeInternal:            KindInternal,
	CodeUnavailable:         KindUnavailable,
	CodeBusy:                KindUnavailable,
	CodeMigrating:           KindUnavailable,
	CodeMigrationFailed:     KindUnavailable,
	CodeOutcomeUnknown:      KindUnavailable,
}

// messageKinds maps each message, in lower case, to its kind, for an answer that has neither a code nor a status.
// "Invalid request" is about the key there: what a Client sends is otherwise well formed.
var messageKinds = map[string]Kind{
	strings.ToLower(MsgInvalidRequest):      KindUnauthorized,
	strings.ToLower(MsgNoItems):             KindNotFound,
	strings.ToLower(MsgItemNotFound):        KindNotFound,
	strings.ToLower(MsgInvalidPurchaseCode): KindNotFound,
	strings.ToLower(MsgNotFound):            KindNotFound,
	strings.ToLower(MsgMethodNotAllowed):    KindMethodNotAllowed,
	strings.ToLower(MsgTooLarge):            KindTooLarge,
	strings.ToLower(MsgUnsupportedType):     KindUnsupportedType,
	strings.ToLower(MsgLimited):             KindLimited,
	strings.ToLower(MsgInternal):            KindInternal,
	strings.ToLower(MsgUnavailable):         KindUnavailable,
}

package countersign

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

	CodeParamConflict = "param_conflict" // one parameter with two different values
	CodeBadBody       = "bad_body"
	CodeBadQuery      = "bad_query"

	CodeNotFound         = "not_found" // no such path
	CodeMethodNotAllowed = "method_not_allowed"
	CodeBodyTooLarge     = "body_too_large"
	CodeUnsupportedType  = "unsupported_type"
	CodeRateLimited      = "rate_limited"
	CodeQuotaExceeded    = "quota_exceeded"
	CodeInternal         = "internal"
	CodeUnavailable      = "unavailable"
)

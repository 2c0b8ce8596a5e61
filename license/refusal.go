package license

// Refusal explains why a license or a revoked list does not open. Compare with errors.Is and the values below; the
// message of the one that was returned may say more than theirs.
type Refusal struct {
	Code    string // for machines, like "license_expired"
	Message string // for a person: what happened and what to do next
}

// Error returns the message.
func (r *Refusal) Error() string { return r.Message }

// Is makes a refusal equal to the value below that has its code.
func (r *Refusal) Is(target error) bool {
	t, ok := target.(*Refusal)
	return ok && t.Code == r.Code
}

// saying is the same refusal with a message of its own.
func (r *Refusal) saying(message string) error { return &Refusal{r.Code, message} }

// The refusals, in the order in which a text meets them.
var (
	ErrNotCompact  = &Refusal{"license_not_compact", "this is not a license file: it is not three parts joined by dots; use the file exactly as the store returned it"}
	ErrSignature   = &Refusal{"license_signature", "the signature does not match: the text was changed or truncated; use the file exactly as the store returned it"}
	ErrUnsigned    = &Refusal{"license_unsigned", "the license is not signed (alg none); get one from the store"}
	ErrAlgorithm   = &Refusal{"license_algorithm", "the license is not signed with EdDSA; get one from the store"}
	ErrEmbeddedKey = &Refusal{"license_embedded_key", "the license contains its own key; get one from the store"}
	ErrType        = &Refusal{"license_wrong_type", "this is signed, but it is not a license; use the license file, whose type is countersign-license+jwt"}
	ErrUnknownKey  = &Refusal{"license_unknown_key", "the license is signed with a key that is not in the key set; use the current key set of the store that issued it"}
	ErrHeader      = &Refusal{"license_header", "the header of a license has only alg, kid and typ; use the file exactly as the store returned it"}
	ErrDuplicate   = &Refusal{"license_duplicate_member", "a member occurs twice; get a license from the store"}
	ErrClaims      = &Refusal{"license_claims", "the license is signed, but a claim is missing or malformed; get one from the store"}
	ErrNotYetValid = &Refusal{"license_not_yet_valid", "the license is not valid yet; check the clock"}
	ErrExpired     = &Refusal{"license_expired", "the license has expired; get a new one from the store"}
	ErrHost        = &Refusal{"license_bad_host", "invalid host for the license: expected the site's domain or an IP address"}
	ErrWrongDomain = &Refusal{"license_wrong_domain", "the license is for another domain; get one for this domain from the store"}
	ErrRevoked     = &Refusal{"license_revoked", "the license was revoked by the store; get a new one there"}
)

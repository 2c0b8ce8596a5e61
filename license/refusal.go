package license

// Refusal says why a license or a revoked list does not open. Compare with errors.Is and the values below; the
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
	ErrNotCompact  = &Refusal{"license_not_compact", "this is not a license file: it is not three parts joined by dots; take the file as the store gave it"}
	ErrSignature   = &Refusal{"license_signature", "the signature does not fit: the text was changed or cut off; take the file as the store gave it"}
	ErrUnsigned    = &Refusal{"license_unsigned", "the license is not signed (alg none); get one from the store"}
	ErrAlgorithm   = &Refusal{"license_algorithm", "the license is signed with another algorithm than EdDSA; get one from the store"}
	ErrEmbeddedKey = &Refusal{"license_embedded_key", "the license brings its own key; only the keys of the store count, so get one from the store"}
	ErrType        = &Refusal{"license_wrong_type", "this is signed, but it is something else than what is asked for; take the license file, whose type is countersign-license+jwt"}
	ErrUnknownKey  = &Refusal{"license_unknown_key", "the license is signed with a key that is not in the key set; take the key set of the store that issued it, as it is today"}
	ErrHeader      = &Refusal{"license_header", "the header is not that of a license: alg, kid and typ, and nothing else; take the file as the store gave it"}
	ErrDuplicate   = &Refusal{"license_duplicate_member", "a member is given twice, so the license can be read in two ways; get one from the store"}
	ErrClaims      = &Refusal{"license_claims", "the license is signed, but what a license says is missing or malformed; get one from the store"}
	ErrNotYetValid = &Refusal{"license_not_yet_valid", "the license is not valid yet; check the clock"}
	ErrExpired     = &Refusal{"license_expired", "the license has expired; get a new one from the store"}
	ErrHost        = &Refusal{"license_bad_host", "the host to open the license for is not a domain or IP address; give the domain of the site"}
	ErrWrongDomain = &Refusal{"license_wrong_domain", "the license is for another domain; get one for this domain from the store"}
	ErrRevoked     = &Refusal{"license_revoked", "the license was revoked by the store; get a new one there"}
)

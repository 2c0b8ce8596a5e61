package people

import "slices"

// acts are all that the rules of this room write into the audit log.
var acts = []string{
	"user.create", "user.sign_in", "user.refuse_sign_in", "user.refuse_code", "session.end", "session.end_others", "password.change", "password.reset",
	"totp.enable", "totp.disable", "recovery_codes.replace", "setup_link.create", "sign_in_link.create", "audit.prune",
}

// Acts lists the actions that the rules of this room write into the audit log,
// for faces that have words for them. They write no others.
func Acts() []string { return slices.Clone(acts) }

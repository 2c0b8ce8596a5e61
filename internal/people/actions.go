package people

import "slices"

// The actions that this package writes into the audit log: noun.verb.
const (
	actionUserCreate           Action = "user.create"
	actionUserInvite           Action = "user.invite"
	actionUserRename           Action = "user.rename"
	actionUserDeactivate       Action = "user.deactivate"
	actionUserActivate         Action = "user.activate"
	actionUserRemove           Action = "user.remove"
	actionUserPromote          Action = "user.promote"
	actionUserDemote           Action = "user.demote"
	actionUserSignIn           Action = "user.sign_in"
	actionUserRefuseSignIn     Action = "user.refuse_sign_in"
	actionUserRefuseCode       Action = "user.refuse_code"
	actionSessionEnd           Action = "session.end"
	actionSessionEndOthers     Action = "session.end_others"
	actionPasswordChange       Action = "password.change"
	actionPasswordReset        Action = "password.reset"
	actionTOTPEnable           Action = "totp.enable"
	actionTOTPDisable          Action = "totp.disable"
	actionRecoveryCodesReplace Action = "recovery_codes.replace"
	actionSetupLinkCreate      Action = "setup_link.create"
	actionSignInLinkCreate     Action = "sign_in_link.create"

	// ActionAuditPrune is also written by services without users.
	ActionAuditPrune Action = "audit.prune"
)

// actions are all of them, a line for each noun.
var actions = []Action{
	actionUserCreate, actionUserInvite, actionUserRename, actionUserDeactivate, actionUserActivate, actionUserRemove,
	actionUserPromote, actionUserDemote,
	actionUserSignIn, actionUserRefuseSignIn, actionUserRefuseCode,
	actionSessionEnd, actionSessionEndOthers,
	actionPasswordChange, actionPasswordReset,
	actionTOTPEnable, actionTOTPDisable,
	actionRecoveryCodesReplace,
	actionSetupLinkCreate, actionSignInLinkCreate,
	ActionAuditPrune,
}

// Actions lists the actions that this package writes into the audit log, for front ends
// that have words for them. It writes no others.
func Actions() []Action { return slices.Clone(actions) }

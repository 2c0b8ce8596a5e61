package main

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/people"
	"github.com/spf13/cobra"
)

func newAddonUser(a *app) *cobra.Command {
	return newGroup(&cobra.Command{
		Use: "user", Short: "People who sign in to the admin pages: list, create, reset-password, sign-in-link", SuggestionsMinimumDistance: 2,
	}, newUserList(a), newUserCreate(a), newUserResetPassword(a), newUserSignInLink(a))
}

// userJSON is a user as --json prints it.
type userJSON struct {
	Email      string                 `json:"email"`
	TwoStep    bool                   `json:"two_step"`
	CreatedAt  countersign.Timestamp  `json:"created_at"`
	PasswordAt countersign.Timestamp  `json:"password_at"`
	SignedInAt *countersign.Timestamp `json:"signed_in_at"`
}

func jsonOfUser(u people.User) userJSON {
	return userJSON{u.Email, u.TOTP, countersign.At(u.CreatedAt), countersign.At(u.PasswordAt), orNull(countersign.At(u.SignedInAt))}
}

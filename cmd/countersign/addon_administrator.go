package main

import (
	"context"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/fault"
)

// environmentAdministrator is the first administrator that the environment names;
// an empty e-mail is none.
func (a *app) environmentAdministrator() (email, password string, err error) {
	if email, err = a.variable(envAdminEmail); email == "" {
		return "", "", err
	}
	if password, err = a.secret(envAdminPassword); err != nil {
		return "", "", err
	}
	if password == "" {
		return "", "", fail(exitUsage, "usage", envAdminEmail+" is set without a password; name the file that holds one in "+envAdminPassword+"_FILE")
	}
	return email, password, nil
}

// firstAdministrator makes the administrator that the environment names, where
// there is none yet, and returns the e-mail when it did. The addon must be set up.
func (a *app) firstAdministrator(ctx context.Context, s *addon.Addon) (email string, err error) {
	if named, err := a.variable(envAdminEmail); named == "" {
		return "", err
	}
	there, err := s.People().HasAdministrator(ctx)
	if err != nil || there {
		return "", err
	}
	email, password, err := a.environmentAdministrator()
	if err != nil {
		return "", err
	}
	user, err := s.People().CreateAdministrator(ctx, operator(), email, password)
	if fault.HasCode(err, "already_set_up") {
		return "", nil // somebody else was quicker
	}
	return user.Email, err
}

package main

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/people"
)

// environmentAdministrator returns the first administrator of a service that the environment names,
// or an empty e-mail.
func (a *app) environmentAdministrator(of locationFlags) (email, password string, err error) {
	if email, err = a.Variable(of.adminEmail); email == "" {
		return "", "", err
	}
	if password, err = a.Secret(of.adminPassword); err != nil {
		return "", "", err
	}
	if password == "" {
		return "", "", cli.Fail(cli.ExitUsage, "usage", of.adminEmail+" is set without a password; write the password to a file and name the file in "+of.adminPassword+"_FILE")
	}
	return email, password, nil
}

// firstAdministrator creates the administrator that the environment names if no
// administrator exists, and then returns the e-mail. The service must be set up.
func (a *app) firstAdministrator(ctx context.Context, of locationFlags, p *people.People) (email string, err error) {
	if named, err := a.Variable(of.adminEmail); named == "" {
		return "", err
	}
	there, err := p.HasAdministrator(ctx)
	if err != nil || there {
		return "", err
	}
	email, password, err := a.environmentAdministrator(of)
	if err != nil {
		return "", err
	}
	user, err := p.CreateAdministrator(ctx, operator(), email, password)
	if fault.HasCode(err, "already_set_up") {
		return "", nil // somebody else was quicker
	}
	return user.Email, err
}

// welcome makes a service's first administrator, or the link for one, when its server starts.
type welcome struct {
	server *server
	of     locationFlags
	// newLink returns the set-up link that all servers of the database print.
	newLink func(context.Context, people.Actor) (token string, expires time.Time, err error)
	done    bool // at the start
}

// atOnce creates the first administrator from the environment, or the link by which
// somebody becomes that. The link is empty when there is an administrator, and while the
// service can't be used; later goes on then.
func (w *welcome) atOnce(ctx context.Context) (link string, err error) {
	if err := w.server.instance.Ready(ctx); err != nil {
		return "", nil
	}
	link, err = w.begin(ctx)
	if fault.IsUnavailable(err) {
		return "", nil
	}
	w.done = err == nil
	return link, err
}

func (w *welcome) begin(ctx context.Context) (link string, err error) {
	if _, err := w.server.app.firstAdministrator(ctx, w.of, w.server.instance.People); err != nil {
		return "", err
	}
	there, err := w.server.instance.People.HasAdministrator(ctx)
	if err != nil || there {
		return "", err
	}
	return w.link(ctx)
}

// link is the set-up link, "" when there is an administrator.
func (w *welcome) link(ctx context.Context) (string, error) {
	token, _, err := w.newLink(ctx, operator())
	switch {
	case fault.HasCode(err, "already_set_up"):
		return "", nil
	case err != nil:
		return "", err
	}
	return w.of.setupLink(w.server.address(), token), nil
}

// later does what atOnce could not do as soon as the service is ready, and lasts until ctx ends.
func (w *welcome) later(ctx context.Context) error {
	for !w.done {
		if !group.Sleep(ctx, 500*time.Millisecond, nil) {
			return nil
		}
		link, err := w.atOnce(ctx)
		if err != nil {
			if ctx.Err() == nil {
				w.server.log.Error("the first administrator was not created", "cause", err)
			}
			break
		}
		if link != "" {
			w.sayLater(link)
		}
	}
	<-ctx.Done()
	return nil
}

// say prints a set-up link for a person.
func (w *welcome) say(link string) {
	if link != "" {
		w.server.app.Say("Create the first administrator at %s", link)
	}
}

// sayLater is say after the server's own line: with --json it is an object of its own.
func (w *welcome) sayLater(link string) {
	if w.server.app.JSON {
		_ = w.server.app.PrintJSON(struct {
			SetupURL string `json:"setup_url"`
		}{link}) // a write that fails ends the program with an error
	}
	w.say(link)
}

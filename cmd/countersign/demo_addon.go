package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/sample"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
)

// demoAddon is what a filled demo addon has to show.
type demoAddon struct {
	token string // signs its administrator in, once
	pair  addon.Pair
}

// fillDemoAddon sets an addon up and fills it with the sample, where that was not
// done before. An addon of somebody else's is left alone.
func fillDemoAddon(ctx context.Context, s *addon.Addon, dir string) (demoAddon, error) {
	var d demoAddon
	if _, err := s.Update(ctx, operator(), nil); err != nil {
		return d, err
	}
	user, err := demoAdministrator(ctx, s, dir)
	if err != nil {
		return d, err
	}
	if err := fillSettings(ctx, s); err != nil {
		return d, fmt.Errorf("demo: %w", err)
	}
	if d.token, _, err = s.People().NewSignInLink(ctx, operator(), user.Email); err != nil {
		return d, err
	}
	pairs, err := s.Credentials(ctx, operator())
	if err != nil || len(pairs) == 0 {
		return d, err
	}
	_, d.pair, err = s.RevealCredential(ctx, operator(), pairs[0].ID)
	return d, err
}

// demoAdministrator finds the demo's administrator, or makes one whose password
// nobody knows.
func demoAdministrator(ctx context.Context, s *addon.Addon, dir string) (people.User, error) {
	email := sample.NewDemo().AdminEmail
	users, err := s.People().Users(ctx, operator())
	if err != nil {
		return people.User{}, err
	}
	for _, u := range users {
		if u.Email == email {
			return u, nil
		}
	}
	if len(users) > 0 {
		return people.User{}, cli.Fail(cli.ExitConflict, "not_a_demo", fmt.Sprintf("%s holds an addon that is not a demo; name another folder with --keep", dir))
	}
	return s.People().CreateAdministrator(ctx, operator(), email, rand.Text())
}

// fillSettings fills an addon of which nothing was published yet. It can be run
// again after it was interrupted.
func fillSettings(ctx context.Context, s *addon.Addon) error {
	now, err := s.Settings.Draft(ctx, operator())
	if err != nil {
		return err
	}
	d := sample.NewDemo()
	if now.Published.Number == 1 {
		if err := fillApp(ctx, s, d, now); err != nil {
			return err
		}
		now.Published.Number++
	}
	if now.Published.Number == 2 {
		return fillIAP(ctx, s, d)
	}
	return nil
}

func fillApp(ctx context.Context, s *addon.Addon, d sample.Demo, now settings.Draft) error {
	if _, err := s.Settings.Set(ctx, operator(), 0, changesOf(d.AppSettings)); err != nil {
		return err
	}
	for _, k := range d.OwnKeys {
		if _, there := now.Get(k.Key); there {
			continue
		}
		if _, err := s.Settings.AddKey(ctx, operator(), 0, k.Key, settings.Type(k.Type), k.Value); err != nil {
			return err
		}
	}
	_, err := s.Settings.Publish(ctx, operator(), 0, d.AppNote)
	return err
}

func fillIAP(ctx context.Context, s *addon.Addon, d sample.Demo) error {
	for _, p := range d.Packages {
		if err := s.IAP.AddPackage(ctx, operator(), iap.Package(p)); err != nil && !fault.HasCode(err, "package_exists") {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(d.Products)) {
		if _, err := s.Settings.AddProduct(ctx, operator(), 0, id, d.Products[id]); err != nil {
			return err
		}
	}
	if _, err := s.Settings.Set(ctx, operator(), 0, changesOf(d.IAPSettings)); err != nil {
		return err
	}
	file, err := sample.ServiceAccount()
	if err != nil {
		return err
	}
	if _, err := s.Settings.SetServiceAccount(ctx, operator(), 0, file); err != nil {
		return err
	}
	_, err = s.Settings.Publish(ctx, operator(), 0, d.IAPNote)
	return err
}

func changesOf(list []sample.Setting) map[string]string {
	changes := make(map[string]string, len(list))
	for _, x := range list {
		changes[x.Key] = x.Value
	}
	return changes
}

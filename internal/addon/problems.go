package addon

import (
	"context"
	"fmt"
	"slices"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/people"
)

// Severity tells what stops a publish from what it only ought to know.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Problem is something about the draft as a whole.
type Problem struct {
	Severity Severity
	// Key is the setting it is about, "" for none.
	Key  string
	Text string
}

// Problems lists what is wrong with the draft as a whole, errors first.
func (a *Addon) Problems(ctx context.Context, actor people.Actor) ([]Problem, error) {
	if err := a.mayNow(actor, manageSettings); err != nil {
		return nil, err
	}
	var list []Problem
	err := a.db.Snapshot(ctx, func(tx *addondb.DB) error {
		rows, err := tx.Settings(ctx)
		if err != nil {
			return err
		}
		packages, err := tx.Packages(ctx)
		list = problemsOf(valuesOf(rows), packages)
		return err
	})
	return list, err
}

// problemsOf applies the rules between keys.
func problemsOf(v values, packages []Package) []Problem {
	list := slices.Concat(pushProblems(v), nameProblems(v), iapProblems(v, packages))
	slices.SortStableFunc(list, func(a, b Problem) int {
		return rankOf(a.Severity) - rankOf(b.Severity)
	})
	return list
}

func rankOf(s Severity) int { return slices.Index([]Severity{SeverityError, SeverityWarning}, s) }

func pushProblems(v values) []Problem {
	if !v.on(KeyPushEnabled) {
		return nil
	}
	var list []Problem
	if v[KeyPushAppID].Value == "" {
		list = append(list, Problem{SeverityError, KeyPushAppID, "Push notifications are on but the push app ID is empty; devices would fail to start push. Fill it in, or switch push off"})
	}
	if v[KeyPushTimelineAppID].Value == "" {
		list = append(list, Problem{SeverityWarning, KeyPushTimelineAppID, "Push notifications are on but the timeline's push app ID is empty; the timeline sends none"})
	}
	return list
}

func nameProblems(v values) []Problem {
	if v[KeyAppName].Value != "" {
		return nil
	}
	return []Problem{{SeverityWarning, KeyAppName, "The app has no name"}}
}

func iapProblems(v values, packages []Package) []Problem {
	var list []Problem
	if problem := missingPackages(v[KeyIAPProductMap].Value, packages); problem != "" {
		list = append(list, Problem{SeverityError, KeyIAPProductMap, problem})
	}
	if !v.on(KeyIAPEnabled) {
		return list
	}
	warn := func(key, text string) { list = append(list, Problem{SeverityWarning, key, text}) }
	products := v.products()
	if v[KeyIAPStorePackageName].Value == "" {
		warn(KeyIAPStorePackageName, "In-app purchases are on but the Android application ID is empty; the store is reported as off")
	}
	if v[KeyIAPStoreServiceAccount].Value == "" {
		warn(KeyIAPStoreServiceAccount, "In-app purchases are on but there is no service account; the store is reported as off")
	}
	if len(products) == 0 {
		warn(KeyIAPProductMap, "In-app purchases are on but no product is mapped; the store is reported as off")
	}
	if v.on(KeyIAPSandboxEnabled) {
		warn(KeyIAPSandboxEnabled, "The built-in pretended store is on; nobody pays for anything")
	}
	for _, p := range packages {
		sold := slices.ContainsFunc(products, func(x Product) bool { return x.PackageID == p.ID })
		if p.Paid && !sold {
			warn(KeyIAPProductMap, fmt.Sprintf("The paid package %s (%d) has no product; it can't be bought in the app", p.Name, p.ID))
		}
	}
	return list
}

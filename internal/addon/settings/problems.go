package settings

import (
	"cmp"
	"context"
	"slices"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/input"
)

// Problem is something about the settings as a whole.
type Problem = input.Problem

// The severities of problems.
const (
	SeverityError   = input.SeverityError
	SeverityWarning = input.SeverityWarning
)

// problemsOf applies the rules between keys.
func problemsOf(v values, packages []iap.Package) []Problem {
	list := slices.Concat(pushProblems(v), nameProblems(v), iap.Problems(v.iap(), packages))
	slices.SortStableFunc(list, func(a, b Problem) int { return cmp.Compare(a.Severity, b.Severity) }) // "error" before "warning"
	return list
}

// memberProblems lists what a publish of settings would change for members.
func memberProblems(ctx context.Context, tx *addondb.DB, published, v values) ([]Problem, error) {
	before, after := published.iap(), v.iap()
	if !iap.ConcernsMembers(before, after) {
		return nil, nil
	}
	members, err := tx.CountMembers(ctx, after.PackageName)
	return iap.MemberProblems(before, after, members), err
}

func pushProblems(v values) []Problem {
	if !v.on(KeyPushEnabled) {
		return nil
	}
	var list []Problem
	if v[KeyPushAppID].Value == "" {
		list = append(list, Problem{Severity: SeverityError, Code: input.CodePushAppIDMissing, Key: KeyPushAppID, Text: "Push notifications are on but the push app ID is empty; devices would fail to start push. Fill it in, or switch push off"})
	}
	if v[KeyPushTimelineAppID].Value == "" {
		list = append(list, Problem{Severity: SeverityWarning, Code: input.CodePushTimelineAppIDMissing, Key: KeyPushTimelineAppID, Text: "Push notifications are on but the timeline's push app ID is empty; the timeline sends no notifications"})
	}
	return list
}

func nameProblems(v values) []Problem {
	if v[KeyAppName].Value != "" {
		return nil
	}
	return []Problem{{Severity: SeverityWarning, Code: input.CodeAppNameMissing, Key: KeyAppName, Text: "The app has no name"}}
}

package licensing

import (
	"context"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/license"
)

// Rule describes what the purchases of an item may be licensed for.
type Rule = storedb.Licensing

// Limits of what may be written.
const (
	maxLicenseDomains = 1000
	maxLicenseMoves   = 1000
	maxMoveWaitHours  = 24 * 365
)

// Revision identifies a rule.
func Revision(r Rule) string { return rules.Revision(r) }

var errRuleChanged = fault.New(countersign.KindPrecondition, "rule_changed", "The license rules changed after you opened them. Nothing was saved. Check them and try again")

// SetRule lets change alter what the purchases of an item may be licensed for. Licenses that were issued stay. A change
// of nothing is not in the audit log. A rule that somebody saw with the revision seen and that has changed since is an
// error of kind Precondition (rule_changed). An empty revision is not checked.
func (s *Service) SetRule(ctx context.Context, a people.Actor, item int64, seen string, change func(*Rule)) (storedb.Item, error) {
	var i storedb.Item
	err := s.db.Tx(ctx, func(tx *storedb.DB) (err error) {
		i, err = tx.LockItem(ctx, item)
		if err == nil {
			err = access.In(ctx, tx, a, i.WorkspaceID, access.Manage, rules.NoItem(item))
		}
		if err != nil {
			return sqldb.IfNotFound(err, rules.NoItem(item))
		}
		before := i.Licensing
		if seen != "" && Revision(before) != seen {
			return errRuleChanged
		}
		change(&i.Licensing)
		if err := CheckRule(&i.Licensing); err != nil {
			return err
		}
		was, is, err := rules.DescribeMembers(before, i.Licensing)
		if err != nil || was == is {
			return err
		}
		w, err := tx.WorkspaceByID(ctx, i.WorkspaceID)
		if err != nil {
			return err
		}
		if err := tx.SetLicensing(ctx, item, i.Licensing); err != nil {
			return err
		}
		return people.Record(ctx, &tx.DB, s.now(), a, people.Event{
			Action: actionSetRule, Workspace: w.Account.Username, Subject: fmt.Sprint(item), Before: was, After: is,
		})
	})
	return i, err
}

// CheckRule returns all that is wrong with an item's licensing that is to be
// written, and brings its hosts into the form that is compared; nil says nothing.
func CheckRule(l *Rule) error {
	if l == nil {
		return nil
	}
	inRange := func(what string, n, most int) error {
		if n < 0 || n > most {
			return wrongRule(what, fmt.Sprintf("invalid licensing.%s: expected a whole number from 0 to %d", what, most))
		}
		return nil
	}
	return fault.All(
		inRange("regular_domains", l.RegularDomains, maxLicenseDomains),
		inRange("extended_domains", l.ExtendedDomains, maxLicenseDomains),
		inRange("moves_a_year", l.MovesAYear, maxLicenseMoves),
		inRange("move_wait_hours", l.MoveWaitHours, maxMoveWaitHours),
		setStaging(l),
	)
}

// setStaging brings the staging hosts of a rule into the form that is compared.
func setStaging(l *Rule) error {
	if len(l.StagingHosts) > rules.MaxWords {
		return wrongRule("staging_hosts", fmt.Sprintf("licensing.staging_hosts: at most %d", rules.MaxWords))
	}
	hosts := make(countersign.List, len(l.StagingHosts)) // a new list: the old one may be another's
	for i, host := range l.StagingHosts {
		var err error
		if hosts[i], err = license.ParseStaging(host); err != nil {
			return wrongRule("staging_hosts", fmt.Sprintf("licensing.staging_hosts: %q: %s", host, fault.Message(err)))
		}
	}
	l.StagingHosts = hosts
	return nil
}

// wrongRule is an error about one of the rules, by its name in the JSON of an item.
func wrongRule(name, message string) error {
	return fault.WithFields(fault.Invalid(fault.CodeInvalid, message), map[string]string{"licensing." + name: message})
}

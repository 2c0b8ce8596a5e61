package store

import (
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

// errSame rolls a transaction back that would change nothing.
var errSame = errors.New("store: nothing to change")

// ifChanged is the error of a transaction, nil for one that would have changed nothing.
func ifChanged(err error) error {
	if errors.Is(err, errSame) {
		return nil
	}
	return err
}

// describeItem describes what differs in an item, by the members of its JSON.
func describeItem(before, after Item) (was, is string, err error) {
	type members struct {
		Kind    storedb.Kind `json:"kind"`
		Support bool         `json:"support"`
		countersign.Item
		Licensing licensing.Rule `json:"licensing"`
	}
	of := func(i Item) members { return members{i.Kind, i.Support, i.Item, i.Licensing} }
	return rules.DescribeMembers(of(before), of(after))
}

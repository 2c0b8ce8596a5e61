package membership

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/play"
)

// Subscriber is a user of the site with a purchase that another backend verified. Token or OrderID is set.
type Subscriber struct {
	Line           int // in the file
	User           string
	Token, OrderID string
}

// SubscriberImport is what became of a list of subscribers.
type SubscriberImport struct {
	Lines int `json:"lines"`
	// New purchases were not known, Updated ones had no owner, Unchanged ones were the user's already.
	New       int `json:"new"`
	Updated   int `json:"updated"`
	Unchanged int `json:"unchanged"`
	// Unknown ones are not known to the store any more, Others belong to another user, Refused ones activate nothing.
	Unknown  int                 `json:"unknown"`
	Others   int                 `json:"others"`
	Refused  int                 `json:"refused"`
	Problems []SubscriberProblem `json:"problems"`
}

// SubscriberProblem is why the purchase of a line was not written.
type SubscriberProblem struct {
	Line    int    `json:"line"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// ImportOptions are how subscribers are imported. Progress, which may be nil, is told how many lines are done.
type ImportOptions struct {
	DryRun   bool
	Progress func(lines int)
}

const (
	// importBatch is how many lines are imported between two reports of the progress.
	importBatch = ordersAtOnce
	// importAtOnce is how many of them are read from the store at a time.
	importAtOnce = 8
)

// ImportSubscribers reads purchases from the store and writes them with the owners that the site names, as if those had
// verified them. A purchase of another user stays with that user. An outage of the store ends it with an error; done is
// what was imported before. It can be repeated: what is there already is not read again.
func (s *Service) ImportSubscribers(ctx context.Context, actor people.Actor, list []Subscriber, o ImportOptions) (done SubscriberImport, err error) {
	done.Problems = []SubscriberProblem{}
	if err := s.access.May(actor, access.ManageMembers); err != nil {
		return done, err
	}
	store, selling, err := s.open(ctx)
	if err != nil {
		return done, err
	}
	for some := range slices.Chunk(list, importBatch) {
		if err = s.importSome(ctx, store, selling, some, o.DryRun, &done); err != nil {
			break
		}
		if o.Progress != nil {
			o.Progress(done.Lines)
		}
	}
	if o.DryRun || done.New+done.Updated == 0 {
		return done, err
	}
	detail := fmt.Sprintf("%d new purchases, %d updated", done.New, done.Updated)
	audit := s.db.Tx(context.WithoutCancel(ctx), func(tx *addondb.DB) error {
		return s.access.Audit(ctx, tx, actor, people.Event{Action: access.ActionPurchaseImport, Detail: detail})
	})
	if err == nil {
		err = audit
	}
	return done, err
}

// importSome imports some lines. Those that end with an error of the store are not counted.
func (s *Service) importSome(ctx context.Context, store Store, selling iap.Selling, list []Subscriber, dryRun bool, done *SubscriberImport) error {
	list, err := withTokens(ctx, store, list)
	if err != nil {
		return err
	}
	results, errs := make([]string, len(list)), make([]error, len(list))
	var readers errgroup.Group
	readers.SetLimit(importAtOnce)
	for i, one := range list {
		readers.Go(func() error {
			results[i], errs[i] = s.importOne(ctx, store, selling, one, dryRun)
			return nil
		})
	}
	_ = readers.Wait() // each has its own error
	for i, one := range list {
		if failed := fault.Of(errs[i]); errs[i] != nil && (failed == nil || fault.IsUnavailable(failed)) {
			err = errs[i]
			continue
		}
		done.add(one.Line, results[i], errs[i])
	}
	return err
}

// withTokens returns lines with the tokens of their orders. An order that the store does not know has none.
func withTokens(ctx context.Context, store Store, list []Subscriber) ([]Subscriber, error) {
	var ids []string
	for _, one := range list {
		if one.Token == "" {
			ids = append(ids, one.OrderID)
		}
	}
	if len(ids) == 0 {
		return list, nil
	}
	orders, err := readOrders(ctx, store, ids)
	if err != nil {
		return nil, refusal(err)
	}
	list = slices.Clone(list)
	for i, one := range list {
		if at := slices.IndexFunc(orders, func(o play.Order) bool { return o.ID == one.OrderID }); one.Token == "" && at >= 0 {
			list[i].Token = orders[at].Token
		}
	}
	return list, nil
}

var errUnknownOrder = fault.New(countersign.KindUnprocessable, "invalid_token", "The store does not know this order")

// importOne reads a purchase and writes it with its owner, unless that is its owner already.
func (s *Service) importOne(ctx context.Context, store Store, selling iap.Selling, one Subscriber, dryRun bool) (result string, err error) {
	if one.Token == "" {
		return "", errUnknownOrder
	}
	known, err := s.db.PurchaseByToken(ctx, platform, digestOf(s.box(), one.Token))
	if ignoreNotFound(err) != nil {
		return "", err
	}
	if known.UserID == one.User {
		return ResultUnchanged, nil
	}
	done, err := s.readAndApply(ctx, store, selling, one.Token, request{cause: causeImport, user: one.User, vouched: true, dryRun: dryRun})
	return done.result, err
}

// add counts what became of a line.
func (i *SubscriberImport) add(line int, result string, err error) {
	i.Lines++
	switch apiErr := fault.Of(err); {
	case apiErr != nil:
		i.Problems = append(i.Problems, SubscriberProblem{line, apiErr.Code, apiErr.Message})
		switch apiErr.Code {
		case errOwnedByOther.Code:
			i.Others++
		case errUnknownOrder.Code, "purchase_gone":
			i.Unknown++
		default:
			i.Refused++
		}
	case result == ResultCreated:
		i.New++
	case result == ResultUpdated:
		i.Updated++
	default:
		i.Unchanged++
	}
}

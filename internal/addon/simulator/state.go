package simulator

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/play/playfake"
	"github.com/countersign/countersign/internal/sqldb"
)

// sealPurpose is what the state is sealed for.
const sealPurpose = "simulated store"

// storedState is the state as the row holds it, sealed.
type storedState struct {
	// Name distinguishes this store from those that were cleared.
	Name string
	// Ahead is how far its clock is ahead of the addon's.
	Ahead time.Duration
	// Buyers are the users by purchase token.
	Buyers map[string]string
	Store  json.RawMessage
	// Last is the last step, nil before the first.
	Last *Step
}

// state is the store while it is used.
type state struct {
	storedState
	store     *playfake.Store
	maxOrders int
}

// full is an error of kind Conflict (simulator_full) when the store has as many orders as it keeps.
func (st *state) full() error {
	if st.store.OrderCount() < st.maxOrders {
		return nil
	}
	return fault.Conflict("simulator_full", fmt.Sprintf("The simulated store holds %d orders, and its clock stands still", st.store.OrderCount()))
}

// advance moves the clock of the store to a time. While the store is full, the clock stands still before
// the next thing that happens.
func (st *state) advance(to time.Time) {
	for next := st.store.Next(); !next.IsZero() && !next.After(to); next = st.store.Next() {
		if st.full() != nil {
			return
		}
		st.store.AdvanceTo(next)
	}
	st.store.AdvanceTo(to)
}

// The base plans of every subscription. What is bought once has a purchase option in place of them.
const (
	Monthly        = "monthly"
	Yearly         = "yearly"
	Prepaid        = "prepaid" // paid for a month, and never renewed by itself
	purchaseOption = "buy"
)

// Plans lists the base plans of every product, of which the first one is bought unless another one is named.
func Plans() []string { return []string{Monthly, Yearly, Prepaid} }

// plansFor are the base plans of a product with a price for a month. A declined payment is followed by a day of silent
// retries, a week of grace and 53 days on hold, as in the store's defaults.
func plansFor(price playfake.Money) []playfake.Plan {
	const graceDays, monthsPaid = 7, 10
	year := price.Times(monthsPaid)
	return []playfake.Plan{
		{ID: Monthly, Kind: playfake.AutoRenewing, Period: "P1M", Price: price, Grace: graceDays},
		{ID: Yearly, Kind: playfake.AutoRenewing, Period: "P1Y", Price: year, Grace: graceDays},
		{ID: Prepaid, Kind: playfake.Prepaid, Period: "P1M", Price: price},
	}
}

// read returns the store as it is now, for reading. due reports that something happened since
// the last change that has to be written.
func (s *Service) read(ctx context.Context, selling iap.Selling) (st *state, due bool, err error) {
	sealed, err := s.db.Simulator(ctx)
	if err != nil {
		return nil, false, err
	}
	if st, err = s.open(sealed, selling); err != nil {
		return nil, false, err
	}
	next, now := st.store.Next(), s.clock(st)
	if due = !next.IsZero() && !next.After(now) && st.full() == nil; !due {
		st.advance(now)
	}
	return st, due, nil
}

// clock is the time that the clock of a store should show.
func (s *Service) clock(st *state) time.Time { return s.now().Add(st.Ahead) }

// open opens a sealed state, empty for a new store, and adds the products that were mapped since.
func (s *Service) open(sealed []byte, selling iap.Selling) (*state, error) {
	st := &state{maxOrders: s.maxOrders, storedState: storedState{Name: strings.ToLower(rand.Text()), Buyers: map[string]string{}}}
	store, err := playfake.New(playfake.Options{Package: selling.Application, Start: s.now(), Products: []playfake.Product{}})
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	st.store = store
	if len(sealed) > 0 {
		text, err := s.access.Box().Open(sealPurpose, sealed)
		if err != nil {
			return nil, fault.WithCause(fault.Conflict("simulator_lost", "The simulated store was encrypted with another key file"), err)
		}
		if err := json.Unmarshal(text, &st.storedState); err != nil {
			return nil, fmt.Errorf("simulator: the stored state: %w", err)
		}
		if err := store.Restore(st.Store); err != nil {
			return nil, err
		}
	}
	store.SetPackage(selling.Application)
	return st, addProducts(store, selling)
}

// addProducts adds the mapped products that the store does not sell yet, each for five more than the last, and the plans that those
// of an earlier version lack. Those that left the map stay, for the subscriptions that go on.
func addProducts(store *playfake.Store, selling iap.Selling) error {
	sold := store.Products()
	ids := slices.SortedFunc(maps.Keys(selling.Packages), func(a, b string) int {
		return cmp.Or(cmp.Compare(selling.Packages[a], selling.Packages[b]), cmp.Compare(a, b))
	})
	for _, id := range ids {
		price := playfake.Money{Currency: "EUR", Units: 4 + 5*int64(len(store.Products())), Nanos: 990_000_000}
		_, once := selling.OneTime[id]
		known := slices.IndexFunc(sold, func(p playfake.Product) bool { return p.ID == id && (p.Plans[0].Kind == playfake.OneTime) == once })
		if known >= 0 {
			price = sold[known].Plans[0].Price
		}
		plans := plansFor(price)
		if once {
			plans = []playfake.Plan{{ID: purchaseOption, Kind: playfake.OneTime, Price: price}}
		}
		if known >= 0 && len(sold[known].Plans) == len(plans) {
			continue
		}
		if err := store.AddProduct(playfake.Product{ID: id, Title: id, Plans: plans}); err != nil {
			return fmt.Errorf("simulator: %w", err)
		}
	}
	return nil
}

// change lets do change the store as it is now, and writes it: in one transaction with the
// notifications that it sends, which it returns. The tasks of those are due after a wait.
func (s *Service) change(ctx context.Context, selling iap.Selling, wait time.Duration, do func(*addondb.DB, *state) error) (sent []play.Notification, err error) {
	err = s.db.Tx(ctx, func(tx *addondb.DB) error {
		sent = nil
		sealed, err := tx.LockSimulator(ctx, s.access.Timestamp())
		if err != nil {
			return err
		}
		on, err := isOn(ctx, tx)
		if err != nil {
			return err
		}
		if !on {
			return errOff
		}
		st, err := s.open(sealed, selling)
		if err != nil {
			return err
		}
		st.advance(s.clock(st))
		if err := do(tx, st); err != nil {
			return err
		}
		if sent, err = s.send(ctx, tx, selling, st, wait); err != nil {
			return err
		}
		return s.save(ctx, tx, st)
	})
	return sent, err
}

// isOn reports whether test mode is on for a transaction that has locked the store. What a process has cached may be older.
func isOn(ctx context.Context, tx *addondb.DB) (bool, error) {
	last, err := tx.LastVersion(ctx)
	return iap.ValuesOf(last.Settings.V).Sandbox, err
}

// send takes the notifications out of the store, in their order, and has the members receive them.
func (s *Service) send(ctx context.Context, tx *addondb.DB, selling iap.Selling, st *state, wait time.Duration) (list []play.Notification, err error) {
	for _, m := range st.store.Take() {
		body, err := m.Body()
		if err != nil {
			return nil, fmt.Errorf("simulator: a notification: %w", err)
		}
		n, err := play.ParsePush(body)
		if err != nil {
			return nil, fmt.Errorf("simulator: a notification: %w", err)
		}
		n.MessageID = membership.SimulatedPrefix + st.Name + "-" + n.MessageID
		if err := s.Members.ReceiveIn(ctx, tx, selling, n, body, wait); err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}

// save writes the state, and has the next thing that happens by itself done at its time.
func (s *Service) save(ctx context.Context, tx *addondb.DB, st *state) (err error) {
	st.Ahead = max(st.store.Now().Sub(s.now()), 0)
	if st.Store, err = st.store.Snapshot(); err != nil {
		return fmt.Errorf("simulator: %w", err)
	}
	text, err := json.Marshal(st.storedState)
	if err != nil {
		return fmt.Errorf("simulator: %w", err)
	}
	if err := tx.SetSimulator(ctx, s.access.Box().Seal(sealPurpose, text), sqldb.Time{Time: s.now()}); err != nil {
		return err
	}
	if next := st.store.Next(); !next.IsZero() {
		if err := s.put(ctx, tx, s.due(st, next)); err != nil {
			return err
		}
	}
	return s.access.SameKeyFile(ctx, tx.Queries)
}

// Rename moves the purchases of a user to another one, "" for nobody. A state that can't be opened names nobody.
func (s *Service) Rename(ctx context.Context, tx *addondb.DB, user, to string) error {
	sealed, err := tx.Simulator(ctx)
	if err != nil || len(sealed) == 0 { // the row of a site that has never used test mode is not locked
		return err
	}
	if sealed, err = tx.LockSimulator(ctx, s.access.Timestamp()); err != nil {
		return err
	}
	text, err := s.access.Box().Open(sealPurpose, sealed)
	if err != nil {
		return nil
	}
	var k storedState
	if err := json.Unmarshal(text, &k); err != nil {
		return fmt.Errorf("simulator: the stored state: %w", err)
	}
	for token, buyer := range k.Buyers {
		if buyer == user {
			k.Buyers[token] = to
		}
	}
	if k.Last != nil && k.Last.Purchase.User == user {
		k.Last = nil
	}
	if text, err = json.Marshal(k); err != nil {
		return fmt.Errorf("simulator: %w", err)
	}
	if err := tx.SetSimulator(ctx, s.access.Box().Seal(sealPurpose, text), s.access.Timestamp()); err != nil {
		return err
	}
	return s.access.SameKeyFile(ctx, tx.Queries)
}

// due is when the addon's clock shows the time at which the store has to do something.
func (s *Service) due(st *state, next time.Time) time.Time {
	at := next.Add(-st.Ahead)
	if latest := s.now().Add(tickEvery); at.After(latest) {
		return latest
	}
	return at
}

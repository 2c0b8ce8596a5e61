package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/license"
)

// LicenseKey is a pair of keys for licenses.
type LicenseKey = storedb.LicenseKey

// maxLicenseKeys is how many keys a key set may have, by the clients that read it.
const maxLicenseKeys = 32

// Document is an answer that is the same for everybody for as long as it is kept.
type Document struct {
	body     []byte
	once     sync.Once
	prepared any
}

// Prepared gives what prepare makes of the body. It is called once for as long as
// the document is kept.
func (d *Document) Prepared(prepare func(body []byte) any) any {
	d.once.Do(func() { d.prepared, d.body = prepare(d.body), nil })
	return d.prepared
}

// licenseKeys is the keys for licenses in memory.
type licenseKeys struct {
	signer  license.SigningKey
	signs   bool // there is a signer
	keySet  *license.KeySet
	printed Document
}

// LicenseKeySet is the key set that clients check licenses with: the current key
// and the earlier ones.
func (s *Store) LicenseKeySet(ctx context.Context) (*Document, error) {
	keys, err := s.signingKeys(ctx)
	if err != nil {
		return nil, err
	}
	return &keys.printed, nil
}

// signingKeys gives the keys, from memory as far as it can be trusted. The first
// time, it makes the first one.
func (s *Store) signingKeys(ctx context.Context) (*licenseKeys, error) {
	if !s.prepared() {
		return nil, s.notPrepared()
	}
	keys, err := s.licenses.keys.Get(ctx)
	if err != nil || keys.signs {
		return keys, err
	}
	// Whoever comes meanwhile shares the outcome: a queue of attempts, each of which
	// waits for the database, would be too long for the last ones.
	made, err, _ := s.licenses.making.Do("", func() (any, error) { return s.makeSigningKeys(context.WithoutCancel(ctx)) })
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return nil, err
	}
	return made.(*licenseKeys), nil
}

// makeSigningKeys makes the first key, unless there is one by now.
func (s *Store) makeSigningKeys(ctx context.Context) (*licenseKeys, error) {
	keys, err := s.licenses.keys.Get(ctx)
	if err != nil || keys.signs {
		return keys, err
	}
	if err := s.firstLicenseKey(ctx); err != nil {
		return nil, err
	}
	keys, err = s.readLicenseKeys(ctx) // memory may not have heard of another process's key
	if err == nil && !keys.signs {
		err = errors.New("store: a key for licenses was made and is not there")
	}
	return keys, err
}

func (s *Store) readLicenseKeys(ctx context.Context) (*licenseKeys, error) {
	list, err := s.db.LicenseKeys(ctx)
	if err != nil || len(list) == 0 {
		return &licenseKeys{}, err
	}
	keys := &licenseKeys{}
	var current, earlier []license.Key
	for _, k := range slices.Backward(list) {
		shown := license.Key{ID: k.ID, Public: k.Public}
		if !k.Current() {
			earlier = append(earlier, shown)
			continue
		}
		if keys.signer, err = openLicenseKey(s.box.Load(), k); err != nil {
			return nil, err
		}
		keys.signs = true
		current = append(current, shown)
	}
	// A rekey can leave one too many; then the oldest goes.
	earlier = earlier[:min(len(earlier), maxLicenseKeys-len(current))]
	if keys.keySet, err = license.NewKeySet(append(current, earlier...)...); err != nil {
		return nil, fmt.Errorf("store: key set: %w", err)
	}
	keys.printed.body, err = json.Marshal(keys.keySet)
	return keys, err
}

func openLicenseKey(box *keyfile.Box, k LicenseKey) (license.SigningKey, error) {
	seed, err := box.Open(licenseKeyPurpose(k.ID), k.Sealed)
	if err != nil {
		return license.SigningKey{}, fmt.Errorf("store: license key %s: %w", k.ID, err)
	}
	return license.SigningKeyFromSeed(seed)
}

// licenseKeyPurpose binds a sealed private key to its public one.
func licenseKeyPurpose(id string) string { return "license key " + id }

// newLicenseKey makes a key that signs.
func (s *Store) newLicenseKey(box *keyfile.Box) (LicenseKey, error) {
	key, err := license.NewSigningKey()
	if err != nil {
		return LicenseKey{}, err
	}
	return LicenseKey{
		ID: key.ID(), Public: key.Public().Public, CreatedAt: s.timestamp(),
		Sealed: box.Seal(licenseKeyPurpose(key.ID()), key.Seed()),
	}, nil
}

// firstLicenseKey makes the key of a store that has none. When another process
// does so at once, the second one takes the first one's.
func (s *Store) firstLicenseKey(ctx context.Context) error {
	k, err := s.newLicenseKey(s.box.Load())
	if err != nil {
		return err
	}
	err = s.db.Tx(ctx, func(tx *storedb.DB) error {
		if err := s.sameKeyFile(ctx, tx); err != nil { // first, as in a rotation: two orders could wait for each other
			return err
		}
		return tx.AddLicenseKey(ctx, k)
	})
	if errors.Is(err, sqldb.ErrExists) {
		return nil
	}
	return err
}

// RotateLicenseKey makes a new key that signs from now on. Licenses that earlier
// keys have signed stay good, unless dropEarlier takes those keys out of the key
// set, as is right when somebody has stolen one.
func (s *Store) RotateLicenseKey(ctx context.Context, a people.Actor, dropEarlier bool) (LicenseKey, error) {
	if err := may(a, manage); err != nil {
		return LicenseKey{}, err
	}
	k, err := s.newLicenseKey(s.box.Load())
	if err != nil {
		return LicenseKey{}, err
	}
	detail := ""
	if dropEarlier {
		detail = "earlier keys were dropped"
	}
	err = s.db.Tx(ctx, func(tx *storedb.DB) error {
		if _, err := tx.LockMeta(ctx, keyCheck); err != nil { // one rotation at a time
			return err
		}
		if err := retireLicenseKeys(ctx, tx, s.timestamp(), dropEarlier); err != nil {
			return err
		}
		if err := tx.AddLicenseKey(ctx, k); err != nil {
			return err
		}
		if err := s.sameKeyFile(ctx, tx); err != nil {
			return err
		}
		return s.audit(ctx, tx, a, "license_key.rotate", "", k.ID, detail)
	})
	return k, err
}

// retireLicenseKeys ends the key that signs, and forgets its private part.
func retireLicenseKeys(ctx context.Context, tx *storedb.DB, now countersign.Timestamp, drop bool) error {
	if drop {
		return tx.DropLicenseKeys(ctx)
	}
	list, err := tx.LicenseKeys(ctx)
	if err != nil {
		return err
	}
	if len(list) >= maxLicenseKeys {
		return fault.Conflict("license_keys_full", fmt.Sprintf("There are %d keys for licenses already, which is all that clients read", len(list)))
	}
	for _, k := range list {
		if k.Current() {
			k.Sealed, k.RetiredAt = nil, now
			if err := tx.UpdateLicenseKey(ctx, k); err != nil {
				return err
			}
		}
	}
	return nil
}

// LicenseKeys lists the keys for licenses, the oldest first.
func (s *Store) LicenseKeys(ctx context.Context, a people.Actor) ([]LicenseKey, error) {
	if err := may(a, manage); err != nil {
		return nil, err
	}
	return s.db.LicenseKeys(ctx)
}

// lostLicenseKey finds the key that signs when an old key file, nil when it is
// lost, does not open it.
func lostLicenseKey(ctx context.Context, db *storedb.DB, old *keyfile.Box) (id string, err error) {
	list, err := db.LicenseKeys(ctx)
	for _, k := range list {
		if !k.Current() {
			continue
		}
		if old == nil {
			return k.ID, nil
		}
		if _, err := openLicenseKey(old, k); err != nil {
			return k.ID, nil
		}
	}
	return "", err
}

// resealLicenseKeys brings the private key for licenses from an old key file, nil
// when it is lost, to a new one. A key that can't be opened any more is retired;
// the next license makes a new one.
func resealLicenseKeys(ctx context.Context, tx *storedb.DB, old, fresh *keyfile.Box, now countersign.Timestamp) error {
	lost, err := lostLicenseKey(ctx, tx, old)
	if err != nil {
		return err
	}
	list, err := tx.LicenseKeys(ctx)
	if err != nil {
		return err
	}
	for _, k := range list {
		switch {
		case !k.Current():
			continue
		case k.ID == lost:
			k.Sealed, k.RetiredAt = nil, now
		default:
			key, err := openLicenseKey(old, k)
			if err != nil {
				return err
			}
			k.Sealed = fresh.Seal(licenseKeyPurpose(k.ID), key.Seed())
		}
		if err := tx.UpdateLicenseKey(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

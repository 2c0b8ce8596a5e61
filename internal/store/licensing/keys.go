package licensing

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/prepared"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/license"
)

// Key is a pair of keys for licenses.
type Key = storedb.LicenseKey

// MaxKeys is how many keys a key set may have, by the clients that read it.
const MaxKeys = 32

// signingKeys is the keys for licenses as they are cached.
type signingKeys struct {
	signer license.SigningKey
	signs  bool // there is a signer
	keySet *license.KeySet
	answer *prepared.Response // nil without a key
}

// issuer names the store in what it signs: its address, or its key when it has none.
func (k *signingKeys) issuer(address string) string {
	return cmp.Or(address, "urn:countersign:"+k.signer.ID())
}

// KeySet is the key set that clients check licenses with: the current key
// and the earlier ones.
func (s *Service) KeySet(ctx context.Context) (*prepared.Response, error) {
	keys, err := s.signingKeys(ctx)
	if err != nil {
		return nil, err
	}
	return keys.answer, nil
}

// signingKeys returns the keys, from the cache when it is current. The first call
// creates the first key.
func (s *Service) signingKeys(ctx context.Context) (*signingKeys, error) {
	if err := s.gate.Ready(); err != nil {
		return nil, err
	}
	keys, err := s.keys.Get(ctx)
	if err != nil || keys.signs {
		return keys, err
	}
	// Concurrent callers share the outcome. If each waited for the database in turn,
	// the last ones would wait too long.
	made, err, _ := s.making.Do("", func() (any, error) { return s.makeSigningKeys(context.WithoutCancel(ctx)) })
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return nil, err
	}
	return made.(*signingKeys), nil
}

// makeSigningKeys creates the first key, unless there is one by now.
func (s *Service) makeSigningKeys(ctx context.Context) (*signingKeys, error) {
	keys, err := s.keys.Get(ctx)
	if err != nil || keys.signs {
		return keys, err
	}
	if err := s.firstKey(ctx); err != nil {
		return nil, err
	}
	keys, err = s.readKeys(ctx) // the cache may not know of another process's key
	if err == nil && !keys.signs {
		err = errors.New("store: the license key just created is missing")
	}
	return keys, err
}

func (s *Service) readKeys(ctx context.Context) (*signingKeys, error) {
	list, err := s.db.LicenseKeys(ctx)
	if err != nil || len(list) == 0 {
		return &signingKeys{}, err
	}
	keys := &signingKeys{}
	var current, earlier []license.Key
	for _, k := range slices.Backward(list) {
		shown := license.Key{ID: k.ID, Public: k.Public}
		if !k.Current() {
			earlier = append(earlier, shown)
			continue
		}
		if keys.signer, err = openKey(s.gate.Box(), k); err != nil {
			return nil, err
		}
		keys.signs = true
		current = append(current, shown)
	}
	// A rekey can leave one too many; then the oldest goes.
	earlier = earlier[:min(len(earlier), MaxKeys-len(current))]
	if keys.keySet, err = license.NewKeySet(append(current, earlier...)...); err != nil {
		return nil, fmt.Errorf("store: key set: %w", err)
	}
	body, err := json.Marshal(keys.keySet)
	keys.answer = prepared.New(body)
	return keys, err
}

func openKey(box *keyfile.Box, k Key) (license.SigningKey, error) {
	seed, err := box.Open(keyPurpose(k.ID), k.Sealed)
	if err != nil {
		return license.SigningKey{}, fmt.Errorf("store: license key %s: %w", k.ID, err)
	}
	return license.SigningKeyFromSeed(seed)
}

// keyPurpose binds a sealed private key to its public one.
func keyPurpose(id string) string { return "license key " + id }

// newKey creates a key that signs.
func (s *Service) newKey(box *keyfile.Box) (Key, error) {
	key, err := license.NewSigningKey()
	if err != nil {
		return Key{}, err
	}
	return Key{
		ID: key.ID(), Public: key.Public().Public, CreatedAt: countersign.At(s.now()),
		Sealed: box.Seal(keyPurpose(key.ID()), key.Seed()),
	}, nil
}

// firstKey creates the key of a store that has none. When another process
// does so at once, the second one takes the first one's.
func (s *Service) firstKey(ctx context.Context) error {
	k, err := s.newKey(s.gate.Box())
	if err != nil {
		return err
	}
	err = s.db.Tx(ctx, func(tx *storedb.DB) error {
		if err := s.gate.SameKeyFile(ctx, tx.Queries); err != nil { // first, as in a rotation: two orders could wait for each other
			return err
		}
		return tx.AddLicenseKey(ctx, k)
	})
	if errors.Is(err, sqldb.ErrExists) {
		return nil
	}
	return err
}

// RotateKey creates a new key that signs from now on. Licenses that earlier
// keys have signed stay valid, unless dropEarlier takes those keys out of the key
// set, as is right when somebody has stolen one.
func (s *Service) RotateKey(ctx context.Context, a people.Actor, dropEarlier bool) (Key, error) {
	if err := access.May(a, access.Administer); err != nil {
		return Key{}, err
	}
	k, err := s.newKey(s.gate.Box())
	if err != nil {
		return Key{}, err
	}
	detail := ""
	if dropEarlier {
		detail = "earlier keys were removed"
	}
	err = s.db.Tx(ctx, func(tx *storedb.DB) error {
		if _, err := tx.LockSharedMeta(ctx, keyfile.CheckName); err != nil { // one rotation at a time
			return err
		}
		if err := access.Administers(ctx, tx, a); err != nil {
			return err
		}
		if err := retireKeys(ctx, tx, countersign.At(s.now()), dropEarlier); err != nil {
			return err
		}
		if err := tx.AddLicenseKey(ctx, k); err != nil {
			return err
		}
		if err := s.gate.SameKeyFile(ctx, tx.Queries); err != nil {
			return err
		}
		return people.Record(ctx, &tx.DB, s.now(), a, people.Event{Action: actionRotateKey, Subject: k.ID, Detail: detail})
	})
	return k, err
}

// retireKeys retires the key that signs, and drops its private part.
func retireKeys(ctx context.Context, tx *storedb.DB, now countersign.Timestamp, drop bool) error {
	if drop {
		return tx.DropLicenseKeys(ctx)
	}
	list, err := tx.LicenseKeys(ctx)
	if err != nil {
		return err
	}
	if len(list) >= MaxKeys {
		return fault.Conflict("license_keys_full", fmt.Sprintf("There are already %d license keys, the most that clients read", len(list)))
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

// Keys lists the keys for licenses, the oldest first.
func (s *Service) Keys(ctx context.Context, a people.Actor) ([]Key, error) {
	if err := access.May(a, access.Administer); err != nil {
		return nil, err
	}
	return s.db.LicenseKeys(ctx)
}

// LostKey finds the key that signs when an old key file, nil when it is
// lost, does not open it.
func LostKey(ctx context.Context, db *storedb.DB, old *keyfile.Box) (id string, err error) {
	list, err := db.LicenseKeys(ctx)
	for _, k := range list {
		if _, opens := openOld(old, k); k.Current() && !opens {
			return k.ID, nil
		}
	}
	return "", err
}

// openOld opens a key with an old key file, nil when it is lost.
func openOld(old *keyfile.Box, k Key) (key license.SigningKey, ok bool) {
	if old == nil {
		return key, false
	}
	key, err := openKey(old, k)
	return key, err == nil
}

// ResealKeys brings the private key for licenses from an old key file, nil
// when it is lost, to a new one. A key that can't be opened any more is retired;
// the next license makes a new one.
func ResealKeys(ctx context.Context, tx *storedb.DB, old, fresh *keyfile.Box, now countersign.Timestamp) error {
	list, err := tx.LicenseKeys(ctx)
	if err != nil {
		return err
	}
	for _, k := range list {
		if !k.Current() {
			continue
		}
		if key, opens := openOld(old, k); opens {
			k.Sealed = fresh.Seal(keyPurpose(k.ID), key.Seed())
		} else {
			k.Sealed, k.RetiredAt = nil, now
		}
		if err := tx.UpdateLicenseKey(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

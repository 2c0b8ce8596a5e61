package credential

import (
	"context"
	"crypto/sha256"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/usertoken"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/token"
)

// pairTable is all API credentials by the digests of their keys.
type pairTable map[[sha256.Size]byte]*openPair

// openPair is API credentials with their values, as calls are checked against them.
type openPair struct {
	addondb.Credential
	Values
	tokens []usertoken.Key // sign user tokens: the addon's, and that of the site with this pair
	// number is different for each pair of each table that was read, 0 for a pair outside of a table.
	number int64
	err    error // why the values can't be read
}

func (s *Service) openPair(c addondb.Credential) *openPair {
	pair, err := s.open(c)
	return &openPair{Credential: c, Values: pair, tokens: []usertoken.Key{s.userTokenKey(), SiteTokenKey(pair)}, err: err}
}

func (p *openPair) isActive() bool { return p.KeyActive && p.SecretActive }

// readPairs reads all API credentials.
func (s *Service) readPairs(ctx context.Context) (*pairTable, error) {
	if err := s.access.Ready(); err != nil { // the key file is not known yet
		return nil, err
	}
	list, err := s.db.Credentials(ctx)
	all := make(pairTable, len(list))
	for _, c := range list {
		pair := s.openPair(c)
		pair.number = s.pairNumber.Add(1)
		all[c.KeyDigest] = pair
	}
	return &all, err
}

// pairWithKey finds a pair by its key, also one that is inactive: from the cache, or from
// the database while the cache is empty. A key with a typo is refused before the database is asked.
func (s *Service) pairWithKey(ctx context.Context, key string) (*openPair, error) {
	if !token.Valid(prefixKey, key) {
		return nil, errCredentialUnknown
	}
	digest := token.Digest(key)
	if all := s.pairs.Cached(); all != nil {
		if p := (*all)[digest]; p != nil {
			return p, p.err
		}
		return nil, errCredentialUnknown
	}
	c, err := s.db.CredentialWithKey(ctx, digest)
	if err != nil {
		return nil, sqldb.IfNotFound(err, errCredentialUnknown)
	}
	p := s.openPair(c)
	return p, p.err
}

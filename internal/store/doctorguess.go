package store

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/transfer"
)

// sampledCodes is how many purchase codes doctor looks at: in a store of ten million
// that takes milliseconds, and shows what one code in a thousand is like.
const sampledCodes = 10_000

// checkCodes estimates by a sample how easy purchase codes are to guess.
func (s *Store) checkCodes(ctx context.Context) health.Finding {
	const name, why = "purchase codes", "Anyone who guesses a code can get a license with it. The limit on failures slows guessing but does not prevent it."
	codes, err := s.db.SampleCodes(ctx, sampledCodes)
	if err != nil {
		return health.Of(name, err, why, "Check the database.")
	}
	var weak transfer.Weak
	for _, code := range codes {
		weak.Note(transfer.CodeBits(code), transfer.SafeCodeBits, 0)
	}
	if weak.Count == 0 {
		return health.Finding{Name: name, Level: health.OK, What: "Purchase codes are hard to guess"}
	}
	return health.Finding{
		Name: name, Level: health.Warn, Why: why,
		What: fmt.Sprintf("Of %d purchase codes, %d can be guessed: they have fewer than %d bits by their length and characters, the weakest %d",
			len(codes), weak.Count, transfer.SafeCodeBits, weak.LeastBits),
		Fix: "Leave --fail-limit on, and use longer codes from now on. The store creates them for purchases without a code.",
	}
}

// checkImportedKeys looks at the keys that another shop has made: how easy they are to
// guess, and whether their values can be opened, on which their digests depend.
func (s *Store) checkImportedKeys(ctx context.Context) health.Finding {
	const name, why = "imported keys", "A key can access everything in its workspace."
	box, err := s.Instance.Location.Old(ctx, s.db.Queries)
	if err != nil || box == nil {
		return health.Finding{Name: name, Level: health.OK, What: "Imported keys can't be checked without the key file"}
	}
	keys, err := s.db.Keys(ctx)
	if err != nil {
		return health.Of(name, err, why, "Check the database.")
	}
	found := weakKeysOf(keys, box)
	switch {
	case found.weak.Count > 0:
		return health.Finding{
			Name: name, Level: health.Warn, Why: why, Fix: "Replace each: countersign store key rotate ID",
			What: fmt.Sprintf("Imported keys that can be guessed: %d, for example %s. They have fewer than %d bits by their length and characters, the weakest %d",
				found.weak.Count, found.example, transfer.SafeKeyBits, found.weak.LeastBits),
		}
	case found.unopened != "":
		return health.Finding{
			Name: name, Level: health.Warn, What: "The value of the imported key " + found.unopened + " can't be decrypted with the key file",
			Why: "Its digest can't be created, or was created with a lost key file. The key then does not work.",
			Fix: "Import it again with its value, or replace it: countersign store key rotate ID",
		}
	}
	return health.Finding{Name: name, Level: health.OK, What: "No imported key is easy to guess"}
}

// weakKeys are the imported keys that are easy to guess, with the name of one, and the
// name of one whose value can't be opened.
type weakKeys struct {
	weak              transfer.Weak
	example, unopened string
}

func weakKeysOf(keys []Key, box *keyfile.Box) (found weakKeys) {
	for _, k := range keys {
		if rules.IsOurs(k.Hint) || !k.RevokedAt.IsZero() {
			continue
		}
		name := k.Workspace + "/" + k.Name
		value, ok := rules.OpenKeyValue(box, k.Digest, k.Sealed)
		if !ok {
			found.unopened = name
			continue
		}
		before := found.weak.Count
		if found.weak.Note(transfer.ShapeBits(value), transfer.SafeKeyBits, 0); before == 0 && found.weak.Count > 0 {
			found.example = name
		}
	}
	return found
}

package validation

import (
	"context"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

// codeLetters are the characters that a mistyped code is tried with.
const codeLetters = "0123456789abcdefghijklmnopqrstuvwxyz-"

// maxNearby is how long a code may be for a search of similar ones. Their number grows with
// its length.
const maxNearby = 64

// Nearby lists the purchases of a workspace whose codes differ from a text by one character:
// another one, one too many, one too few, or two in the wrong order. It is for the pages,
// for members of the workspace; the API never tells.
func (v *Validator) Nearby(ctx context.Context, a people.Actor, workspace, text string) ([]storedb.Purchase, error) {
	w, err := access.Workspace(ctx, v.db, a, workspace, access.View)
	if err != nil {
		return nil, err
	}
	code, ok := rules.CleanCode(text)
	if !ok || len(code) > maxNearby {
		return nil, nil
	}
	var digests []storedb.Digest
	for similar := range similarCodes(rules.FoldCode(code)) {
		digests = append(digests, v.gate.Box().CodeDigest(similar))
	}
	found, err := v.db.PurchasesOf(ctx, w.ID, digests)
	if err != nil {
		return nil, err
	}
	sees, err := access.SeesBuyers(ctx, v.db, a, w.ID)
	for i := range found {
		if !sees {
			found[i].BuyerEmail = ""
		}
	}
	return found, err
}

// similarCodes are the codes that one slip of the keyboard turns into this one.
func similarCodes(code string) map[string]bool {
	all := map[string]bool{}
	for i := range len(code) + 1 {
		before, after := code[:i], code[i:]
		for _, letter := range codeLetters {
			all[before+string(letter)+after] = true
			if after != "" {
				all[before+string(letter)+after[1:]] = true
			}
		}
		if after != "" {
			all[before+after[1:]] = true
		}
		if len(after) > 1 {
			all[before+after[1:2]+after[:1]+after[2:]] = true
		}
	}
	delete(all, code)
	delete(all, "")
	return all
}

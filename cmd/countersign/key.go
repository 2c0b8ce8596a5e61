package main

import (
	"strconv"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newKey(a *app) *cobra.Command {
	return newGroup(&cobra.Command{
		Use: "key", Short: "API keys: list, create, reveal, rotate, revoke, set their end", SuggestionsMinimumDistance: 2,
	}, newKeyList(a), newKeyCreate(a), newKeyReveal(a), newKeyRotate(a), newKeyRevoke(a), newKeySet(a))
}

// keyJSON is a key as --json prints it in lists, without its value.
type keyJSON struct {
	ID                int64                  `json:"id"`
	Name              string                 `json:"name"`
	Workspace         string                 `json:"workspace"`
	Class             store.Class            `json:"class"`
	ItemID            *int64                 `json:"item_id"`
	Hint              string                 `json:"hint"`
	State             string                 `json:"state"`
	CreatedAt         countersign.Timestamp  `json:"created_at"`
	ExpiresAt         *countersign.Timestamp `json:"expires_at"`
	RevokedAt         *countersign.Timestamp `json:"revoked_at"`
	PreviousExpiresAt *countersign.Timestamp `json:"previous_expires_at"`
	LastUsedAt        *countersign.Timestamp `json:"last_used_at"`
	LastUsedFrom      string                 `json:"last_used_from"`
	UsedCount         int64                  `json:"used_count"`
}

func jsonOfKey(k store.Key, now time.Time) keyJSON {
	return keyJSON{
		ID: k.ID, Name: k.Name, Workspace: k.Workspace, Class: k.Class, ItemID: idOrNull(k.ItemID), Hint: k.Hint,
		State: keyState(k, now), CreatedAt: k.CreatedAt, ExpiresAt: orNull(k.ExpiresAt), RevokedAt: orNull(k.RevokedAt),
		PreviousExpiresAt: orNull(k.PreviousExpiresAt), LastUsedAt: orNull(k.LastUsedAt), LastUsedFrom: k.LastUsedFrom, UsedCount: k.UsedCount,
	}
}

func keyState(k store.Key, now time.Time) string {
	switch {
	case !k.RevokedAt.IsZero():
		return "revoked"
	case !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt.Time):
		return "expired"
	}
	return "active"
}

// keyValueJSON is a key with its value.
type keyValueJSON struct {
	ID        int64                  `json:"id"`
	Name      string                 `json:"name"`
	Workspace string                 `json:"workspace"`
	Class     store.Class            `json:"class"`
	ItemID    *int64                 `json:"item_id"`
	Key       string                 `json:"key"`
	ExpiresAt *countersign.Timestamp `json:"expires_at"`
	// PreviousExpiresAt is when the value before the last rotation ends.
	PreviousExpiresAt *countersign.Timestamp `json:"previous_expires_at,omitempty"`
}

// printKeyValue prints a key with its value, for the commands whose purpose it is.
func (a *app) printKeyValue(k store.Key, value string) error {
	return a.printCard(keyValueJSON{
		ID: k.ID, Name: k.Name, Workspace: k.Workspace, Class: k.Class, ItemID: idOrNull(k.ItemID), Key: value,
		ExpiresAt: orNull(k.ExpiresAt), PreviousExpiresAt: orNull(k.PreviousExpiresAt),
	}, append(keyPairs(k), pair{"Key", value})...)
}

// printKey prints a key without its value.
func (a *app) printKey(k store.Key) error {
	return a.printCard(jsonOfKey(k, a.now()), append(keyPairs(k), pair{"Key", k.Hint}, pair{"State", keyState(k, a.now())})...)
}

func keyPairs(k store.Key) []pair {
	expires := "never"
	if !k.ExpiresAt.IsZero() {
		expires = second(k.ExpiresAt)
	}
	pairs := []pair{
		{"Id", strconv.FormatInt(k.ID, 10)}, {"Name", k.Name}, {"Workspace", k.Workspace}, {"Class", string(k.Class)},
		{"Item", idText(k.ItemID)}, {"Expires", expires},
	}
	if !k.PreviousExpiresAt.IsZero() {
		pairs = append(pairs, pair{"Old value ends", second(k.PreviousExpiresAt)})
	}
	return pairs
}

// parseID reads the id of a key or an item.
func parseID(c *cobra.Command, what, text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return 0, usage(c, "invalid id "+strconv.Quote(safe(text))+" of the "+what+": expected a positive whole number"+howToFind[what])
	}
	return id, nil
}

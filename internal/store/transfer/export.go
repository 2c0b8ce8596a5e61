package transfer

import (
	"bufio"
	"context"
	"io"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Export writes the whole store as lines that Import reads: workspaces, keys,
// items, purchases and licenses, each by its natural key, from one view of the
// database. The keys that sign licenses are never written, and the values of API
// keys only when withKeys is true.
func (s *Service) Export(ctx context.Context, a people.Actor, to io.Writer, withKeys bool) error {
	if err := access.May(a, access.Administer); err != nil {
		return err
	}
	if withKeys {
		err := s.db.Tx(ctx, func(tx *storedb.DB) error {
			return people.Record(ctx, &tx.DB, s.now(), a, people.Event{Action: actionExport, Detail: "including the values of all keys"})
		})
		if err != nil {
			return err
		}
	}
	out := bufio.NewWriterSize(to, 64<<10)
	err := s.db.Snapshot(ctx, func(view *storedb.DB) error {
		names, err := exportWorkspaces(ctx, view, out)
		if err != nil {
			return err
		}
		if err := s.exportKeys(ctx, view, out, withKeys); err != nil {
			return err
		}
		err = view.EachItem(ctx, func(i storedb.Item) error { return writeLine(out, lineOfItem(i, names[i.WorkspaceID])) })
		if err != nil {
			return err
		}
		err = view.EachPurchase(ctx, func(p storedb.Purchase) error { return writeLine(out, lineOfPurchase(p, names[p.WorkspaceID])) })
		if err != nil {
			return err
		}
		return exportLicenses(ctx, view, out)
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// exportWorkspaces writes them and returns their usernames by id.
func exportWorkspaces(ctx context.Context, view *storedb.DB, out io.Writer) (map[int64]string, error) {
	list, err := view.Workspaces(ctx)
	if err != nil {
		return nil, err
	}
	names := make(map[int64]string, len(list))
	for _, w := range list {
		names[w.ID] = w.Account.Username
		if err := writeLine(out, lineOfWorkspace(w)); err != nil {
			return nil, err
		}
	}
	return names, nil
}

func (s *Service) exportKeys(ctx context.Context, view *storedb.DB, out io.Writer, withKeys bool) error {
	list, err := view.Keys(ctx)
	if err != nil {
		return err
	}
	for _, k := range list {
		l := keyLine{
			Type: "key", Workspace: k.Workspace, Name: k.Name, Class: k.Class, ItemID: k.ItemID, ExpiresAt: pointerTo(k.ExpiresAt),
			RevokedAt: pointerTo(k.RevokedAt), PreviousExpiresAt: pointerTo(k.PreviousExpiresAt),
		}
		if withKeys {
			box := s.gate.Box()
			l.Key, _ = rules.OpenKeyValue(box, k.Digest, k.Sealed)
			if k.Previous != nil {
				l.PreviousKey, _ = rules.OpenKeyValue(box, *k.Previous, k.PreviousSealed)
			}
		}
		if err := writeLine(out, l); err != nil {
			return err
		}
	}
	return nil
}

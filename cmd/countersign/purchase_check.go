package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/validation"
	"github.com/spf13/cobra"
)

func newPurchaseCheck(a *app) *cobra.Command {
	var purchase purchaseArg
	cmd := &cobra.Command{
		Use: "check CODE", Short: "Check whether a purchase code is valid, and if not, say why (exit code 4)", Args: purchase.check,
		Long: "Check whether a purchase code is valid, and if not, say why (exit code 4).\n\n" + codeHelp,
		RunE: func(c *cobra.Command, args []string) error {
			return purchase.with(a, c, args, func(ctx context.Context, s *store.Store, code string) error {
				found, err := s.Validation.Check(ctx, operator(), code)
				if err != nil {
					return err
				}
				answer, err := apiAnswer(ctx, s, found)
				if err != nil {
					return err
				}
				if err := a.printCheck(found, answer); err != nil {
					return err
				}
				if !found.Valid {
					return fail(exitNo, found.Code, "")
				}
				return nil
			})
		},
	}
	purchase.register(cmd)
	return cmd
}

// checkJSON is a check as --json prints it.
type checkJSON struct {
	Valid     bool            `json:"valid"`
	Code      string          `json:"code"` // as in X-Error-Code, "" when valid
	Reason    string          `json:"reason"`
	APIAnswer json.RawMessage `json:"api_answer"`
	Purchase  *purchaseJSON   `json:"purchase"`
	Item      *checkItemJSON  `json:"item"`
}

type checkItemJSON struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

func (a *app) printCheck(found validation.Check, answer []byte) error {
	if a.json {
		out := checkJSON{Valid: found.Valid, Code: found.Code, Reason: found.Reason, APIAnswer: answer}
		if found.Purchase.Code != "" {
			p := jsonOfPurchase(found.Purchase, found.Workspace)
			out.Purchase, out.Item = &p, &checkItemJSON{found.Item.ID, found.Item.Name}
		}
		return a.printJSON(out)
	}
	verdict := a.colour(a.term.out, green, "Valid.")
	if !found.Valid {
		verdict = a.colour(a.term.out, red, "Not valid: ") + safe(found.Reason) + "."
	}
	_, err := fmt.Fprintf(a.term.out, "%s\n  API answer   %s\n", verdict, safeJSON(answer))
	if err == nil && found.Purchase.Code != "" {
		_, err = fmt.Fprintf(a.term.out, "  item         %s (#%d)   workspace %s   license %s\n",
			safe(found.Item.Name), found.Item.ID, safe(found.Workspace), safe(found.Purchase.License))
	}
	return err
}

// apiAnswer is what the API answers a secret key of the purchase's workspace,
// by the same rule.
func apiAnswer(ctx context.Context, s *store.Store, found validation.Check) ([]byte, error) {
	key := people.Actor{Kind: people.KindKey, Face: people.FaceCommand, Workspace: found.Purchase.WorkspaceID, Secret: true}
	valid, err := s.Validation.Validate(ctx, key, found.Purchase.Code)
	if refused := fault.Of(err); refused != nil && refused.Kind == countersign.KindNotFound {
		return countersign.EncodeJSON(struct {
			Status string `json:"status"`
			Msg    string `json:"msg"`
		}{"error", refused.Message})
	}
	if err != nil {
		return nil, err
	}
	return []byte(`{"status":"success","data":{"purchase":` + valid.Before + valid.ItemBody + valid.After + "}}"), nil
}

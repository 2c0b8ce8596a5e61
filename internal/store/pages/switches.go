package pages

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
)

// switchesForm is what the form of a workspace's switches holds.
type switchesForm struct {
	store.Switches
	revision string // of the switches that the form was made from
	quota    string // as it was typed; "" is that of Switches
	errs     frame.Errors
	conflict *frame.Conflict
}

func switchesOf(ws store.WorkspaceRole) switchesForm {
	return switchesForm{Switches: ws.Switches, revision: store.SwitchesRevision(ws.Workspace)}
}

func (f switchesForm) quotaText() string {
	switch {
	case f.quota != "" || f.errs != nil:
		return f.quota
	case f.Quota == 0:
		return ""
	}
	return strconv.FormatInt(f.Quota, 10)
}

// setSwitches changes what the workspace chooses for its programs.
func (p *Pages) setSwitches(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	fields := []string{"always_200", "refuse_query_keys", "quota"}
	var conflict *frame.Conflict
	return p.frame.Submit(w, r, frame.Form{
		Explain: func(refused error) (frame.Errors, bool) {
			if fault.HasCode(refused, "switches_changed") {
				conflict = &frame.Conflict{Title: frame.ConflictTitle, Text: frame.ConflictText, First: p.lastAct(r, ws, "workspace.set", ws.Account.Username)()}
				return nil, true
			}
			return frame.FormErrors(refused, fields...)
		},
		Again: func(in url.Values, wrong frame.Errors) (frame.Page, error) {
			entered := switchesForm{Switches: readSwitches(in), revision: in.Get("revision"), quota: in.Get("quota"), errs: wrong, conflict: conflict}
			if conflict != nil {
				saved := switchesOf(ws)
				entered.revision, conflict.Versions = saved.revision, saved.differences(entered)
			}
			return p.keysPage(w, r, ws, entered)
		},
		Do: func(in url.Values) error {
			switches := readSwitches(in)
			if text := strings.TrimSpace(in.Get("quota")); text != "" {
				var err error
				if switches.Quota, err = strconv.ParseInt(text, 10, 64); err != nil || switches.Quota < 0 {
					return wrongField("quota", "Type a whole number of calls a minute, or nothing for no limit.")
				}
			}
			if _, err := p.store.SetSwitches(r.Context(), r.Actor, ws.Account.Username, in.Get("revision"), switches); err != nil {
				return err
			}
			return p.frame.Redirect(w, r, keysPath(ws, ""), "Saved. It holds from the next call on.")
		},
	})
}

// differences are those between what is saved and what was typed.
func (f switchesForm) differences(entered switchesForm) (all []frame.Change) {
	onOff := map[bool]string{true: "on", false: "off"}
	for _, c := range []frame.Change{
		{Key: "refuse_query_keys", Label: labelQueryKeys, Before: onOff[f.RefuseQueryKeys], After: onOff[entered.RefuseQueryKeys]},
		{Key: "always_200", Label: labelAlways200, Before: onOff[f.Always200], After: onOff[entered.Always200]},
		{Key: "quota", Label: labelQuota, Before: f.quotaText(), After: entered.quota},
	} {
		if c.Before != c.After {
			all = append(all, c)
		}
	}
	return all
}

// The labels of the switches.
const (
	labelQueryKeys = "Refuse keys in the query string"
	labelAlways200 = "Answer errors with status 200"
	labelQuota     = "Calls a minute"
)

func readSwitches(in url.Values) store.Switches {
	return store.Switches{Always200: in.Get("always_200") == "1", RefuseQueryKeys: in.Get("refuse_query_keys") == "1"}
}

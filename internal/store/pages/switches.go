package pages

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
)

// switchesForm is what the form of a workspace's switches holds.
type switchesForm struct {
	store.Switches
	quota string // as it was typed; "" is that of Switches
	errs  frame.Errors
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
	return p.frame.Submit(w, r, frame.Form{
		Fields: []string{"always_200", "refuse_query_keys", "quota"},
		Again: func(in url.Values, wrong frame.Errors) (frame.Page, error) {
			return p.keysPage(w, r, ws, switchesForm{readSwitches(in), in.Get("quota"), wrong})
		},
		Do: func(in url.Values) error {
			switches := readSwitches(in)
			if text := strings.TrimSpace(in.Get("quota")); text != "" {
				var err error
				if switches.Quota, err = strconv.ParseInt(text, 10, 64); err != nil || switches.Quota < 0 {
					return wrongField("quota", "Type a whole number of calls a minute, or nothing for no limit.")
				}
			}
			_, err := p.store.SetWorkspace(r.Context(), r.Actor, ws.Account.Username, func(w *store.Workspace) { w.Switches = switches })
			if err != nil {
				return err
			}
			return p.frame.Redirect(w, r, keysPath(ws, ""), "Saved. It holds from the next call on.")
		},
	})
}

func readSwitches(in url.Values) store.Switches {
	return store.Switches{Always200: in.Get("always_200") == "1", RefuseQueryKeys: in.Get("refuse_query_keys") == "1"}
}

package pages

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/licensing"
)

// setRule changes what the purchases of an item may be licensed for.
func (p *Pages) setRule(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, i store.Item) error {
	path, rule := itemPath(ws, i.ID, ""), i.Licensing
	fields := []frame.Field{{
		Name: "licensing.wildcard", Label: "Wildcard licenses", Kind: frame.Select, Value: strconv.FormatBool(rule.Wildcard), Choices: []frame.Choice{{Value: "false", Label: "No"}, {Value: "true", Label: "Yes"}},
		Help: "A license for *.shop.example is for all hosts one level below shop.example.",
	}, {
		Name: "licensing.staging_hosts", Label: "Staging hosts", Kind: frame.TextArea, Rows: 3, Value: strings.Join(rule.StagingHosts, "\n"),
		Help: "Hosts that count as test domains, one a line.", Example: "staging.*",
	}}
	fields = append(ruleFields(rule), fields...)
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "License rules", Crumbs: itemCrumbs(ws, i),
		Consequence: "The rules decide what a purchase of this item may be licensed for, from the next license on. Licenses that were issued stay.",
		Path:        path + "/licensing", Label: "Save", Cancel: path, Safe: true, Failed: "Nothing was saved.",
		Fields: fields, Revision: licensing.Revision(rule), Overtaken: p.lastAct(r, ws, "item.licensing", strconv.FormatInt(i.ID, 10)),
		Form: frame.Form{Fields: ruleNames(fields), Rules: []frame.Rule{func(in url.Values) error {
			rule, err := typedRule(in)
			return fault.All(err, licensing.CheckRule(&rule))
		}}, Do: func(in url.Values) error {
			rule, err := typedRule(in)
			if err != nil {
				return err
			}
			if _, err := p.store.Licensing.SetRule(r.Context(), r.Actor, i.ID, in.Get("revision"), func(saved *licensing.Rule) { *saved = rule }); err != nil {
				return err
			}
			return p.frame.Redirect(w, r, path, "The license rules are saved.")
		}},
	})
}

// ruleNumber is a rule that is a number. Its name is that in the JSON of an item.
type ruleNumber struct {
	name, label, help string
	of                func(*licensing.Rule) *int
}

var ruleNumbers = []ruleNumber{
	{"licensing.regular_domains", "Domains, Regular license", "How many domains a purchase may have. Test domains do not count.", func(r *licensing.Rule) *int { return &r.RegularDomains }},
	{"licensing.extended_domains", "Domains, Extended license", "", func(r *licensing.Rule) *int { return &r.ExtendedDomains }},
	{"licensing.moves_a_year", "Moves a year", "How many times a year a buyer may move or revoke a license.", func(r *licensing.Rule) *int { return &r.MovesAYear }},
	{"licensing.move_wait_hours", "Hours between moves", "How long a buyer has to wait between two moves or revocations.", func(r *licensing.Rule) *int { return &r.MoveWaitHours }},
}

func ruleFields(rule licensing.Rule) (fields []frame.Field) {
	for _, n := range ruleNumbers {
		fields = append(fields, frame.Field{Name: n.name, Label: n.label, Help: n.help, Value: strconv.Itoa(*n.of(&rule)), Required: true})
	}
	return fields
}

func ruleNames(fields []frame.Field) (names []string) {
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return names
}

// typedRule reads the form of the license rules. Its error is about all numbers that can't be read.
func typedRule(in url.Values) (licensing.Rule, error) {
	rule := licensing.Rule{Wildcard: in.Get("licensing.wildcard") == "true", StagingHosts: linesOf(in.Get("licensing.staging_hosts"))}
	wrong := map[string]string{}
	for _, n := range ruleNumbers {
		number, err := strconv.Atoi(strings.TrimSpace(in.Get(n.name)))
		if err != nil {
			wrong[n.name] = "Type a whole number."
			continue
		}
		*n.of(&rule) = number
	}
	return rule, wrongFields(wrong)
}

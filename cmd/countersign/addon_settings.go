package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/spf13/cobra"
)

func newAddonSettings(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "settings", Short: "Settings of the app: list, get, set, add, remove, diff, discard, publish, history, rollback",
		Long: `Settings of the app. Changes are saved in a draft. Apps receive them after a publish:

  countersign addon settings set appName Tuneful
  countersign addon settings publish -m "the app has a name"`,
	},
		listAll(a, a.withAddon, "List all settings: the draft, and what apps receive", "No setting.", viewSetting, allSettings),
		newSettingsGet(a), newSettingsSet(a), newSettingsAdd(a),
		on(a.withAddon, &cobra.Command{Use: "remove KEY", Short: "Remove one of your own keys from the draft", Args: cli.Args("key"), ValidArgsFunction: first(a.fromAddon(settingKeys(func(s settings.Setting) bool { return s.Own })))}, func(ctx context.Context, s *addon.Addon, args []string) error {
			draft, err := s.Settings.RemoveKey(ctx, operator(), settings.Edit{}, args[0], nil)
			return a.showRemoved(args[0], fmt.Sprintf("Removed the key %s from the draft.", args[0]), draft, suggestSetting(ctx, s, args[0], err))
		}),
		newSettingsDiff(a), newSettingsDiscard(a), newSettingsPublish(a), newSettingsHistory(a), newSettingsRollback(a))
}

type settingView struct {
	Key       string          `json:"key" row:"1,KEY" card:"1,Key"`
	Area      settings.Area   `json:"area"`
	Type      settings.Type   `json:"type"`
	Public    bool            `json:"public"`
	Own       bool            `json:"own"`
	Value     json.RawMessage `json:"value"`     // the draft's; null for a secret
	Published json.RawMessage `json:"published"` // what apps receive
	Changed   bool            `json:"changed"`
	Default   bool            `json:"default"`
	// About is what may be said of a secret.
	About         string `json:"about,omitempty"`
	ValueText     string `json:"-" row:"2,VALUE,text" card:"2,Value"`
	PublishedText string `json:"-" row:"3,PUBLISHED,text" card:"3,Published"`
	State         string `json:"-" row:"4,STATE" card:"4,State"`
}

func viewSetting(s settings.Setting) settingView {
	published := s
	published.Value = s.Published
	v := settingView{
		Key: s.Key, Area: s.Area, Type: s.Type, Public: s.Public, Own: s.Own, Value: s.JSON(), Published: published.JSON(),
		Changed: s.Changed, Default: s.AtDefault, ValueText: s.Value, PublishedText: s.Published, State: "published",
	}
	if s.Secret {
		v.About = s.Value
	}
	if len(v.Published) == 0 { // a number that is not published yet
		v.Published = json.RawMessage("null")
	}
	switch {
	case s.Changed:
		v.State = "changed"
	case s.AtDefault:
		v.State = "default"
	}
	return v
}

// showSetting prints a setting as it is in the draft, after a change.
func (a *app) showSetting(draft settings.Draft, key string, err error) error {
	if err != nil {
		return err
	}
	one, _ := draft.Get(key)
	err = a.Show(viewSetting(one), nil)
	a.sayWaiting(draft, err)
	return err
}

// sayWaiting prints that the draft is not published.
func (a *app) sayWaiting(draft settings.Draft, err error) {
	switch {
	case a.JSON || err != nil:
	case len(draft.Changes) == 0:
		a.Say("Apps receive this already.")
	default:
		a.Say("Apps receive it after: countersign addon settings publish -m NOTE (%s not published)", cli.Count(len(draft.Changes), "change", "changes"))
	}
}

func allSettings(ctx context.Context, s *addon.Addon) ([]settings.Setting, error) {
	draft, err := s.Settings.Draft(ctx, operator())
	return draft.List, err
}

// suggestSetting adds to an error about a setting that is not in the draft those that may have been meant.
func suggestSetting(ctx context.Context, s *addon.Addon, key string, err error) error {
	apiErr := fault.Of(err)
	if apiErr == nil {
		return err
	}
	draft, failed := s.Settings.Draft(ctx, operator())
	if _, known := draft.Get(key); known || failed != nil {
		return err
	}
	keys := make([]string, len(draft.List))
	for i, one := range draft.List {
		keys[i] = one.Key
	}
	return fault.WithMessage(apiErr, apiErr.Message+cli.DidYouMean(key, keys))
}

func newSettingsGet(a *app) *cobra.Command {
	var published bool
	c := on(a.withAddon, &cobra.Command{
		Use: "get KEY", Short: "Print the value of a setting; for a secret, its details only", Args: cli.Args("key"), ValidArgsFunction: first(a.fromAddon(settingKeys(func(settings.Setting) bool { return true }))),
	}, func(ctx context.Context, s *addon.Addon, args []string) error {
		draft, err := s.Settings.Draft(ctx, operator())
		if err != nil {
			return err
		}
		setting, ok := draft.Get(args[0])
		switch {
		case !ok:
			return suggestSetting(ctx, s, args[0], fault.NotFound("setting_not_found", fmt.Sprintf("no setting %q", args[0])))
		case a.JSON:
			return a.PrintJSON(viewSetting(setting))
		}
		value := setting.Value
		if published {
			value = setting.Published
		}
		a.Print("%s\n", cli.Safe(value))
		return nil
	})
	c.Flags().BoolVar(&published, "published", false, "print the published value instead of the draft's")
	return c
}

func newSettingsSet(a *app) *cobra.Command {
	var edit settings.Edit
	c := on(a.withAddon, &cobra.Command{
		Use: "set KEY VALUE", Short: "Change a setting in the draft; \"\" empties it", Args: cli.Args("key", "value"), ValidArgsFunction: a.fromAddon(settingKeys(func(s settings.Setting) bool { return !s.Secret })),
		Example: `  countersign addon settings set appName Tuneful
  countersign addon settings set pushEnabled true`,
		PreRunE: refuseServiceAccount,
	}, func(ctx context.Context, s *addon.Addon, args []string) error {
		return a.setSetting(ctx, s, edit, args[0], args[1])
	})
	allowSecretLooking(c, &edit)
	return c
}

func (a *app) setSetting(ctx context.Context, s *addon.Addon, edit settings.Edit, key, value string) error {
	draft, err := s.Settings.Set(ctx, operator(), edit, map[string]string{key: value})
	return a.showSetting(draft, key, suggestSetting(ctx, s, key, err))
}

func allowSecretLooking(c *cobra.Command, edit *settings.Edit) {
	c.Flags().BoolVar(&edit.AllowSecretLooking, "allow-secret-looking", false, "accept a value that looks like a secret but is not one")
}

// refuseServiceAccount keeps a secret off the command line.
func refuseServiceAccount(c *cobra.Command, args []string) error {
	if args[0] == iap.KeyServiceAccount {
		return cli.Usage(c, "a service account is a secret and must not be an argument; pass its file to: countersign addon iap service-account FILE")
	}
	return nil
}

func newSettingsAdd(a *app) *cobra.Command {
	kind, edit := settings.TypeText, settings.Edit{}
	c := on(a.withAddon, &cobra.Command{
		Use: "add KEY VALUE", Short: "Add your own public key to the draft", Args: cli.Args("key", "value"),
		Example: `  countersign addon settings add welcomeText "Hello"
  countersign addon settings add maxUploads 12 --type number`,
	}, func(ctx context.Context, s *addon.Addon, args []string) error {
		draft, err := s.Settings.AddKey(ctx, operator(), edit, args[0], kind, args[1])
		return a.showSetting(draft, args[0], err)
	})
	cli.ChoiceVar(c, &kind, "type", "", "what the app receives: text, bool or number", settings.TypeText, settings.TypeBool, settings.TypeNumber)
	allowSecretLooking(c, &edit)
	return c
}

// showRemoved prints that something is gone from the draft.
func (a *app) showRemoved(name, sentence string, draft settings.Draft, err error) error {
	if err != nil {
		return err
	}
	err = a.Done(struct {
		Removed string `json:"removed"`
		Waiting int    `json:"waiting"` // changes that wait to be published
	}{name, len(draft.Changes)}, "%s", cli.Safe(sentence))
	a.sayWaiting(draft, err)
	return err
}

// changeView is the change of one setting; of a secret, the values are sentences about it. before is null for a key that
// is new, after for one that is gone.
type changeView struct {
	Key        string  `json:"key" row:"1,KEY"`
	Before     *string `json:"before"`
	After      *string `json:"after"`
	BeforeText string  `json:"-" row:"2,BEFORE,text"`
	AfterText  string  `json:"-" row:"3,AFTER,text"`
}

func viewChange(c settings.Change) changeView {
	v := changeView{Key: c.Key, BeforeText: c.Before, AfterText: c.After}
	if c.Added {
		v.BeforeText = "(new)"
	} else {
		v.Before = &c.Before
	}
	if c.Removed {
		v.AfterText = "(removed)"
	} else {
		v.After = &c.After
	}
	return v
}

func newSettingsDiff(a *app) *cobra.Command {
	return a.Listing(on(a.withAddon, &cobra.Command{
		Use: "diff", Short: "List the changes of the next publish, and its problems", Args: cli.Args(),
	}, func(ctx context.Context, s *addon.Addon, _ []string) error {
		draft, err := s.Settings.Draft(ctx, operator())
		if err := cli.PrintList(a.Console, draft.Changes, viewChange, "The draft has no changes.", err); err != nil {
			return err
		}
		a.sayProblems(draft.Problems)
		return nil
	}))
}

func newSettingsDiscard(a *app) *cobra.Command {
	return on(a.withAddon, &cobra.Command{
		Use: "discard [KEY]", Short: "Discard the draft, or its change of one key", Args: cli.OptionalArg("key"),
		ValidArgsFunction: first(a.fromAddon(changedKeys)),
		Long: `Discard the draft, or its change of one key. The draft then has the published values again.
The draft has the settings of in-app purchases too. List its changes with:

  countersign addon settings diff`,
		Example: `  countersign addon settings discard appName
  countersign addon settings discard`,
	}, func(ctx context.Context, s *addon.Addon, args []string) error {
		draft, err := s.Settings.Draft(ctx, operator())
		if err != nil {
			return err
		}
		key := strings.Join(args, "")
		if key == "" && len(draft.Changes) > 0 {
			if err := a.Confirm(ctx, cli.Count(len(draft.Changes), "change", "changes")+" of the draft will be lost. Continue?"); err != nil {
				return err
			}
		}
		draft, gone, err := s.Settings.Discard(ctx, operator(), settings.Edit{Revision: draft.Revision}, key)
		return a.showDiscarded(gone, draft, suggestSetting(ctx, s, key, err))
	})
}

func (a *app) showDiscarded(gone []settings.Change, draft settings.Draft, err error) error {
	if err != nil {
		return err
	}
	text := "Discarded " + cli.Count(len(gone), "change", "changes") + " of the draft."
	if len(gone) == 0 {
		text = "Nothing to discard: apps receive these values already."
	}
	if len(gone) > 0 && len(draft.Changes) > 0 {
		text += " " + cli.Count(len(draft.Changes), "change remains.", "changes remain.")
	}
	return a.Done(struct {
		Discarded []changeView `json:"discarded"`
		Waiting   int          `json:"waiting"` // changes that are still in the draft
	}{sqldb.Convert(gone, viewChange), len(draft.Changes)}, "%s", text)
}

// sayProblems warns of what is wrong with the draft as a whole.
func (a *app) sayProblems(problems []settings.Problem) {
	for _, p := range problems {
		text := p.Text
		if p.Severity == settings.SeverityError {
			text += " (blocks publishing)"
		}
		a.Warn("%s: %s", p.Key, cli.Safe(fault.Join(text, "repair it with: "+p.Command())))
	}
}

type versionView struct {
	Version     int64                 `json:"version" row:"1,VERSION"`
	PublishedAt countersign.Timestamp `json:"published_at" row:"2,PUBLISHED (UTC),minute"`
	By          string                `json:"by" row:"3,BY,text"`
	Via         string                `json:"via" row:"4,VIA"`
	Note        string                `json:"note"`
	// Restored is the version whose values it brought back.
	Restored  *int64 `json:"restored"`
	NoteWords string `json:"-" row:"5,NOTE,text"`
}

func viewVersion(v settings.Version) versionView {
	note := v.Note
	if v.Restored != 0 {
		note += fmt.Sprintf(" (restored version %d)", v.Restored)
	}
	return versionView{v.Number, countersign.At(v.At), v.Actor, string(v.FrontEnd), v.Note, cli.NonZero(v.Restored), note}
}

func newSettingsHistory(a *app) *cobra.Command {
	var limit int
	var before int64
	c := on(a.withAddon, &cobra.Command{
		Use: "history", Short: "List the published versions, newest first", Args: cli.Args(),
	}, func(ctx context.Context, s *addon.Addon, _ []string) error {
		view := func(v settings.Version) (int64, versionView) { return v.Number, viewVersion(v) }
		return listPages(a, limit, before, "No earlier versions.", view, func(before int64, limit int) ([]settings.Version, error) {
			return s.Settings.Versions(ctx, operator(), before, limit)
		})
	})
	return a.Listing(pageFlags(c, &limit, &before, "a version", "versions"))
}

func newSettingsPublish(a *app) *cobra.Command {
	var note string
	c := on(a.withAddon, &cobra.Command{
		Use: "publish -m NOTE", Short: "Publish the draft; servers use it within a second", Args: cli.Args(), PreRunE: cli.Require("message"),
	}, func(ctx context.Context, s *addon.Addon, _ []string) error {
		draft, err := s.Settings.Draft(ctx, operator())
		if err == nil {
			err = a.confirmPublish(ctx, draft.Problems)
		}
		if err != nil {
			return err
		}
		done, err := s.Settings.Publish(ctx, operator(), draft.Revision, note)
		return a.showPublication(done, err)
	})
	c.Flags().StringVarP(&note, "message", "m", "", "a `note` for the history: what was changed and why (required)")
	return c
}

func newSettingsRollback(a *app) *cobra.Command {
	var note string
	c := onID(a.withAddon, "version", cobra.NoFileCompletions, &cobra.Command{
		Use: "rollback N", Short: "Restore an earlier version",
		Long: `Publish the values of an earlier version again, as a new version. Changes in the draft are
kept.`,
	}, func(ctx context.Context, s *addon.Addon, number int64) error {
		version, err := s.Settings.Version(ctx, operator(), number)
		if err == nil {
			err = a.confirmPublish(ctx, version.Concerns)
		}
		if err != nil {
			return err
		}
		done, err := s.Settings.Rollback(ctx, operator(), number, note)
		return a.showPublication(done, err)
	})
	c.Args = cli.Args("version")
	c.Flags().StringVarP(&note, "message", "m", "", "a `note` for the history")
	return c
}

// confirmPublish asks about what a publish changes for members.
func (a *app) confirmPublish(ctx context.Context, problems []settings.Problem) error {
	for _, p := range problems {
		if !p.Asks() {
			continue
		}
		if err := a.Confirm(ctx, p.Text+". Publish?"); err != nil {
			return err
		}
	}
	return nil
}

// publicationView is the result of a publish.
type publicationView struct {
	versionView
	Nothing  bool          `json:"nothing"` // the apps received it already
	Changes  []changeView  `json:"changes"`
	Warnings []problemView `json:"warnings"`
}

// problemView is something that is wrong with a draft.
type problemView struct {
	Key  string `json:"key"`
	Text string `json:"text"`
}

func (a *app) showPublication(p settings.Publication, err error) error {
	switch {
	case err != nil:
		return err
	case a.JSON:
		out := publicationView{viewVersion(p.Version), p.Nothing, []changeView{}, []problemView{}}
		for _, c := range p.Changes {
			out.Changes = append(out.Changes, viewChange(c))
		}
		for _, w := range p.Warnings {
			out.Warnings = append(out.Warnings, problemView{w.Key, w.Text})
		}
		return a.PrintJSON(out)
	case p.Nothing:
		a.Print("Nothing to publish: apps receive version %d.\n", p.Version.Number)
		return nil
	}
	err = cli.PrintList(a.Console, p.Changes, viewChange, "", nil)
	if err == nil {
		a.sayProblems(p.Warnings)
		a.Say("Published as version %d.", p.Version.Number)
	}
	return err
}

package frame_test

import (
	"context"
	"flag"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"testing"
	"time"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/web"
)

// galleryAddress is for looking at the components: go test -run Gallery
// -gallery 127.0.0.1:8099 serves them there until it is interrupted.
var galleryAddress = flag.String("gallery", "", "serve a page with all components on this address until interrupted")

func TestGalleryOfAllComponentsKeepsThePolicy(t *testing.T) {
	s := newSite(t, dbtest.New(t, dbtest.SQLite), func(o *frame.Options) {
		o.Menu = galleryMenu
		o.CheckupBanner = func(*frame.Request) frame.Banner {
			return frame.Banner{Kind: frame.Warning, Title: "An API key is inactive", Text: "Both halves must be active before you go live.", Action: frame.Link{Label: "API access", Path: "/admincp/apis"}}
		}
	})
	s.administrator(t)
	mux := s.mux()
	mux.Handle("GET /admin/iap", s.frame.Admin(s.gallery(galleryParts, frame.Page{
		Title: "In-app purchases", Lead: "What the app sells, and which membership each purchase activates.",
		Crumbs: []frame.Link{{Label: "Dashboard", Path: "/admin"}, {Label: "Settings", Path: "/admin/app"}},
		Action: frame.LinkButton{Link: frame.Link{Label: "New package", Path: "/admin/packages/new", Icon: "plus"}, Kind: frame.Primary},
	})))
	mux.Handle("GET /admin/app", s.frame.Admin(s.gallery(galleryForms, frame.Page{Title: "App settings", Status: http.StatusUnprocessableEntity,
		Lead: "The app reads these when it starts. Nothing changes for your users until you publish."})))
	mux.Handle("GET /admin/confirm", s.frame.Admin(s.gallery(galleryConfirm, frame.Page{Title: "Remove the package Gold"})))
	s.server.Config.Handler = web.NewEdge(web.Options{}).Handler(mux)
	b := s.signedIn(t)
	b.Get("/admin/iap").Status(http.StatusOK).Says("In-app purchases", "An API key is inactive", "Update script ran")
	b.Get("/admin/app").Status(http.StatusUnprocessableEntity).Wrong("pushAppId", "Push is on").Says("Where do I find this?")
	b.Get("/admin/confirm").Status(http.StatusOK).Says("stops working at once")
	if *galleryAddress != "" {
		serveUntilInterrupted(t, s.server.Config.Handler)
	}
}

func serveUntilInterrupted(t *testing.T, h http.Handler) {
	listener := must.Get(net.Listen("tcp", *galleryAddress))(t)
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt)
	defer stop()
	go http.Serve(listener, h)
	<-ctx.Done()
}

var galleryMenu = []frame.MenuItem{
	{Label: "Dashboard", Path: "/admin", Icon: "layout-dashboard"},
	{Label: "App settings", Path: "/admin/app", Icon: "sliders-horizontal", Group: "App"},
	{Label: "In-app purchases", Path: "/admin/iap", Icon: "credit-card", Group: "App"},
	{Label: "Packages", Path: "/admin/packages", Icon: "package", Group: "App"},
	{Label: "History", Path: "/admin/history", Icon: "history", Group: "App"},
	{Label: "Preview", Path: "/admin/preview", Icon: "eye", Group: "App"},
	{Label: "API access", Path: "/admincp/apis", Icon: "key-round", Group: "Server"},
	{Label: "Health", Path: "/admin/health", Icon: "heart-pulse", Group: "Server"},
	{Label: "Audit log", Path: "/admin/audit", Icon: "scroll-text", Group: "Server"},
}

// gallery is a handler that shows parts under each other.
func (s *site) gallery(parts []templ.Component, p frame.Page) frame.Handler {
	p.Body = templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		for _, part := range parts {
			if err := part.Render(ctx, w); err != nil {
				return err
			}
		}
		return nil
	})
	return func(w http.ResponseWriter, r *frame.Request) error { return s.frame.Show(w, r, p) }
}

// around puts children into a component that takes them.
func around(outer templ.Component, children ...templ.Component) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		return outer.Render(templ.WithChildren(ctx, templ.Join(children...)), w)
	})
}

var galleryTime = time.Date(2026, 11, 3, 8, 5, 0, 0, time.UTC)

var galleryTable = frame.Table{
	Caption: "Packages",
	Columns: []frame.Column{{Label: "Package"}, {Label: "State"}, {Label: "Rank", Number: true}, {Label: "Products"}, {Label: "Changed"}, {Label: "Actions", Quiet: true}},
	Rows: []frame.Row{
		{frame.Link{Label: "Gold", Path: "/admin/packages/2"}, frame.Badge{Text: "Mapped", Kind: frame.Good}, frame.Words("20"), frame.Stack(frame.Mono("site.example.gold.monthly"), frame.Mono("site.example.gold.yearly")), frame.Time(galleryTime),
			frame.Group(frame.LinkButton{Link: frame.Link{Label: "Edit", Path: "/admin/packages/2"}, Context: "Gold"}, frame.Button{Label: "Remove", Path: "/admin/packages/2/remove", Context: "Gold"})},
		{frame.Link{Label: "Silver", Path: "/admin/packages/1"}, frame.Badge{Text: "No product", Kind: frame.Warning}, frame.Words("10"), frame.Muted("none yet"), frame.Time(galleryTime),
			frame.Group(frame.LinkButton{Link: frame.Link{Label: "Edit", Path: "/admin/packages/1"}, Context: "Silver"}, frame.Button{Label: "Remove", Path: "/admin/packages/1/remove", Context: "Silver"})},
		{frame.Link{Label: "Member", Path: "/admin/packages/7"}, frame.Badge{Text: "Free"}, frame.Words("1,000"), frame.Muted("not needed"), frame.Time(time.Time{}), frame.LinkButton{Link: frame.Link{Label: "Edit", Path: "/admin/packages/7"}, Context: "Member"}},
	},
}

var galleryParts = []templ.Component{
	frame.Figures{{Label: "Version your app receives", Value: "14", Note: "published 2 hours ago by ada@site.example"}, {Label: "Changes not published", Value: "3", Note: "since version 14"}, {Label: "Reads in 24 hours", Value: "18,204", Note: "from 1,311 devices"}},
	around(frame.Section("Before you go live", "Five things, in this order."), frame.Checklist{
		{Kind: frame.Good, Title: "Update script ran", Text: "Definitions of 2026.11.0, yesterday."},
		{Kind: frame.Good, Title: "App settings saved", Text: "Version 14 is what the app receives."},
		{Kind: frame.Danger, Title: "API key and secret active", Text: "The secret of “Site” is inactive, so nothing that signs its calls gets an answer.", Action: frame.Link{Label: "Activate", Path: "/admincp/apis"}},
		{Kind: frame.Warning, Title: "Every paid package has a product", Text: "Silver has none and can't be bought.", Command: "countersign addon iap product add site.example.silver 1"},
		{Title: "License file downloaded", Text: "The app opens it when it starts.", Action: frame.Link{Label: "Make one", Path: "/admin/license"}},
	}),
	frame.Tabs{Label: "Products", Current: "/admin/iap", Links: []frame.Link{{Label: "Table", Path: "/admin/iap"}, {Label: "As JSON", Path: "/admin/iap/raw"}}},
	around(frame.Section("Packages", "A purchase in the app activates one of these."), galleryTable, frame.Pager{Text: "1–3 of 41", Newer: "/admin/iap", Older: "/admin/iap?after=3"}),
	around(frame.Section("Credentials", "Shown once."), around(frame.Alert(frame.Warning, "Store the secret now"), frame.Words("It is not shown again.")),
		frame.CopyField{Name: "key", Label: "API key", Value: "cak_9f2Yk0a8dZ3pQ7wLm1Rt5vXc6Bn4Hj2Gs8Uf0Ei3Oa7Tb1c"}, frame.CopyField{Name: "secret", Label: "Secret", Value: "cas_5Nw8Ly2Qp4Rk7Vz1Xt3Bc6Md9Fg0Hj2Ks8Ua4Ei1Oe5Tw7z", Help: "Keep it on the server, never in the app."},
		frame.Code{Name: "curl", Label: "Try it", Text: "curl -H 'X-Api-Key: cak_9f2Yk0a8dZ3pQ7wLm1Rt5vXc6Bn4Hj2Gs8Uf0Ei3Oa7Tb1c' \\\n     https://site.example/api-addons/admin/app/settings"}),
	around(frame.Section("Changes", "What a publish will change."), frame.Steps{Labels: []string{"Draft", "Preview", "Publish"}, Current: 1},
		frame.Diff{{Key: "appName", Label: "Name of the app", Before: "Rain", After: "Rain & Thunder"}, {Key: "pushAppId", Label: "Push app id", Before: "", After: "7c0f3b1e-5d2a-4c44-9f00-2b1c3d4e5f60"}, {Key: "betaBanner", After: "true", Added: true}, {Key: "oldKey", Before: "1", Removed: true}}),
	around(frame.Section("Service account", "Write-only: it is never shown again."), frame.Facts{{Label: "Type", Value: frame.Words("service_account")}, {Label: "E-mail", Value: frame.Mono("play@site-example.iam.gserviceaccount.com")}, {Label: "State", Value: frame.Badge{Text: "Test mode", Kind: frame.Note}}, {Label: "Set", Value: frame.Time(galleryTime)}}),
	around(frame.Card(), frame.Table{Empty: frame.Empty{Icon: "scroll-text", Title: "Nothing happened yet", Text: "Every change is written down here: who, what, when and from where.", Action: frame.Link{Label: "Change a setting", Path: "/admin/app"}}}),
	around(frame.Alert(frame.Danger, "The update stopped at step 3"), frame.Words("Nothing was changed. Run it again when the disk has space.")),
	around(frame.Alert(frame.Note, "Test mode is on"), frame.Words("Apps receive the configuration marked as test mode.")),
	around(frame.Actions(), frame.Button{Label: "Publish", Kind: frame.Primary, Path: "/admin/publish"}, frame.Button{Label: "Save draft", Path: "/admin/draft"}, frame.Button{Label: "Discard", Kind: frame.Danger, Icon: "trash-2", Path: "/admin/discard"}),
}

var galleryErrors = frame.Errors{{Name: "pushAppId", Text: "Push is on but the app id is empty: devices would fail to start push."}, {Name: "scheme", Text: "Leave out “://”: the scheme is the part before it."}}

var galleryForms = []templ.Component{
	around(frame.Card(), around(frame.FormOf(frame.FormView{Path: "/admin/app", Errors: galleryErrors, Sticky: true, Submit: frame.Button{Label: "Publish…"}, More: []frame.Button{{Label: "Save draft", Name: "do", Value: "draft"}}, Cancel: frame.Link{Label: "Preview", Path: "/admin/preview"}}),
		frame.Field{Name: "appName", Key: "appName", Label: "Name of the app", Value: "Rain & Thunder", Help: "Shown under the icon and in messages.", Mark: "changed", Required: true},
		frame.Field{Name: "pushEnabled", Key: "pushEnabled", Label: "Push messages", Kind: frame.Switch, On: true, Help: "The app asks for permission at its first start."},
		frame.Field{Name: "iapEnabled", Key: "iapEnabled", Label: "In-app purchases", Kind: frame.Switch},
		frame.Field{Name: "pushAppId", Key: "pushAppId", Label: "Push app id", Error: galleryErrors.Of("pushAppId"), Example: "7c0f3b1e-5d2a-4c44-9f00-2b1c3d4e5f60", Where: "In the push service's dashboard: Settings, then Keys & IDs.", Code: true},
		frame.Field{Name: "scheme", Key: "messengerScheme", Label: "URL scheme of the messenger", Value: "rain://", Error: galleryErrors.Of("scheme"), Example: "rain"},
		frame.Field{Name: "package", Label: "Package", Kind: frame.Select, Value: "2", Choices: []frame.Choice{{Value: "1", Label: "Silver"}, {Value: "2", Label: "Gold"}}},
		frame.Field{Name: "account", Label: "Service account", Kind: frame.TextArea, Code: true, Value: "{\n  \"type\": \"service_account\"\n}", Help: "Paste the file's content."},
		frame.Field{Name: "file", Label: "or the file", Kind: frame.File, Accept: ".json"},
		frame.Field{Name: "rank", Label: "Rank", Kind: frame.Number, Value: "20", Help: "Higher wins."},
		frame.Field{Name: "fixed", Label: "Address of the site", Value: "https://site.example", ReadOnly: true, Help: "Set by --base-url on the server."},
		frame.Field{Name: "password", Label: "Your password", Kind: frame.Password, Autocomplete: "current-password"},
	)),
}

var galleryConfirm = []templ.Component{
	frame.Confirm{Consequence: "The package stops working at once for 1,204 members. What they bought stays recorded.", Path: "/admin/packages/2/remove", Label: "Remove the package", Cancel: "/admin/iap", Fields: []frame.Field{{Name: "name", Label: "Type the name to go on", Example: "Gold", Required: true}}},
}

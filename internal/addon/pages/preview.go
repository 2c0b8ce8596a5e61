package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/countersign/countersign/internal/frame"
)

// part is what a preview shows of the answers to apps.
type part struct {
	path, title, icon, lead string
	// other is in the name of keys that another platform reads, "" for none.
	other string
	// address is where apps read it.
	address string
	iap     bool
}

const (
	addressSettings = "/api-addons/app/settings"
	addressIAP      = "/api-addons/iap/config"
)

var (
	everything = part{path: pathPreview, title: "App settings", icon: "list", address: addressSettings, lead: "All settings, as every app receives them."}
	onIPhones  = part{path: pathPreview + "/ios", title: "On iPhones", icon: "smartphone", address: addressSettings, other: "Android",
		lead: "The keys that an app on an iPhone uses. It also receives the keys for Android and ignores them."}
	onAndroid = part{path: pathPreview + "/android", title: "On Android", icon: "smartphone", address: addressSettings, other: "Ios",
		lead: "The keys that an app on Android uses. It also receives the keys for iPhones and ignores them."}
	purchases = part{path: pathPreview + "/iap", title: "In-app purchases", icon: "credit-card", address: addressIAP, iap: true,
		lead: "What apps receive about purchases."}
)

// previewed is the preview of a part: the answer now and the one after the next
// publish.
type previewed struct {
	part
	now, next string
	version   int64
	// url is the public address, qr its picture.
	url, qr string
}

func (v previewed) changed() bool { return v.now != v.next }

func (p *Pages) showPreview(of part) frame.Handler {
	return func(w http.ResponseWriter, r *frame.Request) error {
		v := previewed{part: of, url: p.address(w, r, of.address)}
		if err := p.readPreview(r, &v); err != nil {
			return err
		}
		var err error
		if v.qr, err = frame.QRCode(v.url); err != nil {
			return err
		}
		return p.frame.Show(w, r, frame.Page{
			Title: "Preview", Crumbs: crumbs(), Body: previewView(v), Lead: "What your app receives: now, and after the next publish.",
		})
	}
}

// readPreview reads what apps are served, and would be served.
func (p *Pages) readPreview(r *frame.Request, v *previewed) error {
	now, err := p.addon.Settings.Published(r.Context())
	if err != nil {
		return err
	}
	v.version = now.Version
	if !v.iap {
		next, err := p.addon.Settings.Preview(r.Context(), r.Actor)
		v.now, v.next = v.read(now.JSON), v.read(next)
		return err
	}
	view, err := p.addon.IAP.Published(r.Context())
	if err != nil {
		return err
	}
	next, err := p.addon.IAP.Preview(r.Context(), r.Actor)
	v.now, v.next = frame.Indented(view.JSON), frame.Indented(next.JSON)
	return err
}

// read is a flat answer as people read it, without the keys of the other platform.
func (of part) read(body []byte) string {
	if of.other == "" {
		return frame.Indented(body)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	_, _ = d.Token() // the answer is an object that was printed here
	var lines []string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return frame.Indented(body)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return frame.Indented(body)
		}
		if !strings.Contains(fmt.Sprint(key), of.other) {
			lines = append(lines, fmt.Sprintf("  %q: %s", key, value))
		}
	}
	return "{\n" + strings.Join(lines, ",\n") + "\n}"
}

// previewTabs are the parts beside each other.
func previewTabs(current string) frame.Tabs {
	tabs := frame.Tabs{Label: "Parts of the preview", Current: current}
	for _, one := range []part{everything, onIPhones, onAndroid, purchases} {
		tabs.Links = append(tabs.Links, frame.Link{Label: one.title, Path: one.path, Icon: one.icon})
	}
	return tabs
}

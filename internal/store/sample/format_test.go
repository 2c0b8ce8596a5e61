package sample

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/must"
)

// The import format, member by member; an unknown member is an error.
type (
	anyLine struct {
		Type string `json:"type"`
	}
	workspaceLine struct {
		Type, Username string
		Name           struct{ Firstname, Lastname string }
		Email          string
		Balance        json.Number
		Currency       string
		Profile        struct {
			Heading, Description string
			Contact              struct{ Email string }
			SocialLinks          map[string]string `json:"social_links"`
			Media                struct{ Avatar, Cover string }
		}
		RegisteredAt string `json:"registered_at"`
	}
	keyLine struct {
		Type, Workspace, Name, Key, Class string
		ItemID                            int64 `json:"item_id"`
	}
	itemLine struct {
		Type, Workspace             string
		ID                          int64
		Kind                        string
		Support                     bool
		Name, Description, Category string
		SubCategory                 string `json:"sub_category"`
		Options                     []string
		Version                     string
		DemoLink                    string `json:"demo_link"`
		Tags                        []string
		Media                       struct {
			Thumbnail    string
			PreviewImage string `json:"preview_image"`
			PreviewVideo string `json:"preview_video"`
			PreviewAudio string `json:"preview_audio"`
			Screenshots  []string
		}
		Price       struct{ Regular, Extended json.Number }
		Currency    string
		PublishedAt string `json:"published_at"`
	}
	purchaseLine struct {
		Type, Workspace string
		ItemID          int64  `json:"item_id"`
		PurchaseCode    string `json:"purchase_code"`
		LicenseType     string `json:"license_type"`
		Price           json.Number
		Currency        string
		SupportedUntil  string `json:"supported_until"`
		Downloaded      bool
		Date, State     string
		StateAt         string `json:"state_at"`
		Buyer           struct{ Name, Email string }
	}
)

// shopLines is a whole shop, read in the order in which an import reads it.
type shopLines struct {
	workspaces map[string]workspaceLine
	keys       map[string]keyLine // by key
	items      map[int64]itemLine
	purchases  []purchaseLine
	codes      map[string]bool // folded
}

// readShop reads every line strictly and checks it against the format and against
// the lines before it.
func readShop(t *testing.T, r io.Reader) shopLines {
	t.Helper()
	s := shopLines{map[string]workspaceLine{}, map[string]keyLine{}, map[int64]itemLine{}, nil, map[string]bool{}}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		for _, problem := range s.add(lines.Bytes()) {
			t.Errorf("line %d: %s: %s", n, problem, lines.Bytes())
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	must.Do(t, lines.Err())
	return s
}

var (
	keyForm     = regexp.MustCompile(`^cs[kp]_[0-9A-Za-z]{49}$`)
	versionForm = regexp.MustCompile(`^\d+\.\d+\.\d+$`)
	codeForm    = regexp.MustCompile(`^[!-~]{1,128}$`)
	moneyForm   = regexp.MustCompile(`^(0|[1-9]\d*)\.\d\d$`)
	emailForm   = regexp.MustCompile(`^[a-z0-9]+([.-][a-z0-9]+)*@[a-z]+\.example$`)
	exampleURL  = regexp.MustCompile(`^https://([a-z]+\.)+example/[a-z0-9/.-]+$`)
)

func (s *shopLines) add(line []byte) (problems []string) {
	var of anyLine
	if err := json.Unmarshal(line, &of); err != nil {
		return []string{err.Error()}
	}
	switch of.Type {
	case "workspace":
		return s.addWorkspace(line)
	case "key":
		return s.addKey(line)
	case "item":
		return s.addItem(line)
	case "purchase":
		return s.addPurchase(line)
	}
	return []string{"unknown type"}
}

func strictly(line []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

func (s *shopLines) addWorkspace(line []byte) []string {
	var w workspaceLine
	if err := strictly(line, &w); err != nil {
		return []string{err.Error()}
	}
	_, twice := s.workspaces[w.Username]
	s.workspaces[w.Username] = w
	return problems(map[string]bool{
		"a username twice":      !twice,
		"items came first":      len(s.items) == 0,
		"no name":               w.Username != "" && w.Name.Firstname != "" && w.Name.Lastname != "",
		"e-mail address":        isEmail(w.Email) && isEmail(w.Profile.Contact.Email),
		"balance":               isMoney(strings.TrimPrefix(w.Balance.String(), "-")),
		"currency":              len(w.Currency) == 3,
		"registration":          !parseTime(w.RegisteredAt).IsZero() && parseTime(w.RegisteredAt).Before(End()),
		"no object of links":    w.Profile.SocialLinks != nil,
		"avatar or cover alone": (w.Profile.Media.Avatar == "") == (w.Profile.Media.Cover == ""),
	})
}

func (s *shopLines) addKey(line []byte) []string {
	var k keyLine
	if err := strictly(line, &k); err != nil {
		return []string{err.Error()}
	}
	_, owned := s.workspaces[k.Workspace]
	_, twice := s.keys[k.Key]
	s.keys[k.Key] = k
	return problems(map[string]bool{
		"unknown workspace": owned,
		"no name":           k.Name != "",
		"a key twice":       !twice,
		"form":              keyForm.MatchString(k.Key),
		"class":             strings.HasPrefix(k.Key, "csp_") == (k.Class == "publishable") && (k.Class == "publishable") == (k.ItemID != 0),
	})
}

func (s *shopLines) addItem(line []byte) []string {
	var it itemLine
	if err := strictly(line, &it); err != nil {
		return []string{err.Error()}
	}
	owner, owned := s.workspaces[it.Workspace]
	_, twice := s.items[it.ID]
	s.items[it.ID] = it
	m := it.Media
	return problems(map[string]bool{
		"unknown workspace":              owned,
		"an id twice, or not positive":   !twice && it.ID > 0,
		"purchases came first":           len(s.purchases) == 0,
		"kind":                           it.Kind == "audio" || it.Kind == "video" || it.Kind == "other",
		"empty text":                     it.Name != "" && it.Description != "" && it.Category != "" && it.SubCategory != "",
		"no options or tags":             len(it.Options) > 0 && len(it.Tags) > 0,
		"version":                        versionForm.MatchString(it.Version),
		"not an example address":         areExamples(append(m.Screenshots, it.DemoLink, m.Thumbnail)),
		"preview_image: not for audio":   (m.PreviewImage == "") == (it.Kind == "audio"),
		"preview_video: only for video":  (m.PreviewVideo != "") == (it.Kind == "video"),
		"preview_audio: only for audio":  (m.PreviewAudio != "") == (it.Kind == "audio"),
		"screenshots of a sound":         it.Kind != "audio" || m.Screenshots == nil,
		"screenshots: absent when empty": m.Screenshots == nil || len(m.Screenshots) > 0,
		"price":                          isMoney(it.Price.Regular.String()) && isMoney(it.Price.Extended.String()),
		"another currency":               it.Currency == owner.Currency,
		"published before its workspace": parseTime(it.PublishedAt).After(parseTime(owner.RegisteredAt)),
	})
}

func (s *shopLines) addPurchase(line []byte) []string {
	var p purchaseLine
	if err := strictly(line, &p); err != nil {
		return []string{err.Error()}
	}
	it := s.items[p.ItemID]
	folded := strings.ToLower(p.PurchaseCode)
	twice := s.codes[folded]
	s.codes[folded] = true
	s.purchases = append(s.purchases, p)
	date, until, changed := parseTime(p.Date), parseTime(p.SupportedUntil), parseTime(p.StateAt)
	return problems(map[string]bool{
		"unknown item":                  it.Workspace != "" && it.Workspace == p.Workspace,
		"a code twice":                  !twice,
		"code":                          codeForm.MatchString(p.PurchaseCode),
		"license":                       p.LicenseType == "Regular" || p.LicenseType == "Extended",
		"price":                         isMoney(p.Price.String()) && p.Price != "0.00",
		"another currency":              p.Currency == it.Currency,
		"date":                          date.After(parseTime(it.PublishedAt)) && date.Before(End()),
		"support: six or twelve months": p.SupportedUntil == "" || until.Equal(date.AddDate(0, 6, 0)) || until.Equal(date.AddDate(0, 12, 0)),
		"state":                         strings.Contains(" active refunded charged_back revoked ", " "+p.State+" "),
		"a change of state":             (p.StateAt == "") == (p.State == "active"),
		"changed before it was sold":    p.StateAt == "" || changed.After(date) && !changed.After(End()),
		"buyer":                         p.Buyer.Name != "" && isEmail(p.Buyer.Email),
	})
}

// problems names the rules that do not hold.
func problems(rules map[string]bool) (broken []string) {
	for rule, holds := range rules {
		if !holds {
			broken = append(broken, rule)
		}
	}
	return broken
}

func isMoney(s string) bool { return moneyForm.MatchString(s) }

func isEmail(s string) bool { return emailForm.MatchString(s) }

func areExamples(urls []string) bool {
	for _, u := range urls {
		if !exampleURL.MatchString(u) {
			return false
		}
	}
	return true
}

// parseTime is the zero time for anything but the API's own form.
func parseTime(s string) time.Time {
	t, err := time.Parse("2006-01-02T15:04:05Z", s)
	if err != nil {
		return time.Time{}
	}
	return t
}

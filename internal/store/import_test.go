package store

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/store/sample"
	"github.com/countersign/countersign/internal/store/transfer"
	"github.com/google/go-cmp/cmp"
)

func TestTheSameFileTwiceChangesNothing(t *testing.T) {
	file := sampleText(t, sample.Options{Keys: true})
	engines(t, func(t *testing.T, f *fixture) {
		first := f.mustImport(t, file)
		want := transfer.ImportReport{
			Lines: strings.Count(file, "\n"), Written: true, Workspaces: transfer.Moved{New: f.rows(t, "workspaces")}, Keys: transfer.Moved{New: f.rows(t, "keys")},
			Items: transfer.Moved{New: f.rows(t, "items")}, Purchases: transfer.Moved{New: f.rows(t, "purchases")},
		}
		if diff := cmp.Diff(want, first); diff != "" || first.Purchases.New < 1200 {
			t.Errorf("the first import: %s", diff)
		}
		exported, dumped := f.mustExport(t, true), f.rows(t, "items")+f.rows(t, "purchases")
		second := f.mustImport(t, file)
		same := func(m transfer.Moved) transfer.Moved { return transfer.Moved{Same: m.New} }
		want = transfer.ImportReport{
			Lines: first.Lines, Written: true, Workspaces: same(first.Workspaces), Keys: same(first.Keys), Items: same(first.Items), Purchases: same(first.Purchases),
		}
		if diff := cmp.Diff(want, second); diff != "" {
			t.Errorf("the second import: %s", diff)
		}
		if f.mustExport(t, true) != exported || f.rows(t, "items")+f.rows(t, "purchases") != dumped {
			t.Error("the second import changed the store")
		}
	})
}

// Every member of a line is written, and written again when it is edited. Each edit has an object
// of its own; # in a member is its number.
func TestEditedLineUpdates(t *testing.T) {
	https := `"https://new.example/a?b=1&c=2"`
	cases := []struct {
		marker string // what tells the object in an export, in lower case
		line   func(i int, members ...string) string
		// first are members of the first line alone: a key keeps what a line does not name.
		first   []string
		members []string
	}{
		{`"username":"shop-#"`, func(i int, m ...string) string { return workspaceText("shop-"+text(i), m...) }, nil, []string{
			`"name":{"firstname":"Augusta","lastname":""}`, `"email":"new@shop.example"`, `"balance":-3.07`, `"currency":"EUR"`,
			`"profile":{"heading":"h"}`, `"profile":{"description":"<d>"}`, `"profile":{"contact":{"email":"c@d.example"}}`,
			`"profile":{"social_links":{"z":` + https + `,"a":` + https + `}}`, `"profile":{"media":{"avatar":` + https + `}}`,
			`"profile":{"media":{"cover":` + https + `}}`, `"registered_at":"2020-01-01T00:00:00Z"`,
			`"always_200":true`, `"refuse_query_keys":true`, `"quota":5`,
		}},
		{`"id":#,`, func(i int, m ...string) string { return itemText("ada", i, m...) }, nil, []string{
			`"kind":"audio"`, `"kind":"video"`, `"support":true`, `"name":"new"`, `"description":"<d>"`, `"category":"c"`, `"sub_category":"s"`,
			`"options":["b","a"]`, `"version":"2"`, `"version":1.5`, `"demo_link":` + https, `"tags":["t"]`, `"media":{"thumbnail":` + https + `}`,
			`"media":{"preview_image":` + https + `}`, `"media":{"preview_video":` + https + `}`, `"media":{"preview_audio":` + https + `}`,
			`"media":{"screenshots":[` + https + `]}`, `"price":{"regular":0.1}`, `"price":{"extended":49}`, `"currency":"EUR"`,
			`"published_at":"2020-01-01T00:00:00Z"`,
		}},
		{`"a-code-#"`, func(i int, m ...string) string { return purchaseText("ada", 1, "a-code-"+text(i), m...) }, nil, []string{
			`"item_id":2`, `"purchase_code":"A-CODE-#"`, `"license_type":"Extended"`, `"price":0.01`, `"currency":"EUR"`,
			`"supported_until":"2025-01-01T00:00:00Z"`, `"downloaded":true`, `"date":"2020-01-01T00:00:00Z"`, `"state":"refunded"`,
			`"buyer":{"name":"b"}`, `"buyer":{"email":"b@c.example"}`,
		}},
		{`"name":"bound #"`, func(i int, m ...string) string { return keyText("ada", "bound "+text(i), m...) },
			[]string{`"class":"publishable","item_id":1`, `"key":"key-number-#-of-many"`}, []string{
				`"class":"publishable","item_id":2`, `"class":"secret"`, `"key":"another-key-0123456789"`, `"expires_at":"2027-01-01T00:00:00Z"`,
				`"revoked_at":"2026-01-01T00:00:00Z"`, `"previous_key":"earlier-key-0123456789"`, `"previous_expires_at":"2026-12-01T00:00:00Z"`,
			}},
	}
	var before, after, markers, edits []string
	for _, c := range cases {
		for _, member := range c.members {
			i := 100 + len(edits)
			numbered := func(s string) string { return strings.ReplaceAll(s, "#", text(i)) }
			before = append(before, numbered(c.line(i, c.first...)))
			after = append(after, numbered(c.line(i, member)))
			markers, edits = append(markers, numbered(c.marker)), append(edits, member)
		}
	}
	engines(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, twoShops+lines(before...))
		was := strings.Split(f.mustExport(t, true), "\n")
		sum := func(count func(transfer.Moved) int64, r transfer.ImportReport) int64 {
			return count(r.Workspaces) + count(r.Items) + count(r.Purchases) + count(r.Keys)
		}
		report := f.mustImport(t, lines(after...))
		if got := sum(func(m transfer.Moved) int64 { return m.Changed }, report); got != int64(len(edits)) {
			t.Errorf("%d lines changed, want %d: %+v", got, len(edits), report)
		}
		now := strings.Split(f.mustExport(t, true), "\n")
		for i, marker := range markers {
			isOf := func(line string) bool { return strings.Contains(strings.ToLower(line), marker) }
			x, y := slices.IndexFunc(was, isOf), slices.IndexFunc(now, isOf)
			if x < 0 || y < 0 || was[x] == now[y] {
				t.Errorf("%s: the export has lines %d and %d, which do not differ", edits[i], x, y)
			}
		}
		report = f.mustImport(t, lines(after...))
		if got := sum(func(m transfer.Moved) int64 { return m.Same }, report); got != int64(len(edits)) {
			t.Errorf("the second time %d are the same, want %d: %+v", got, len(edits), report)
		}
	})
}

func TestEditedItemIsPrintedAnew(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		_, token := f.mustCreate(t, NewKey{Workspace: "ada"})
		f.mustImport(t, lines(purchaseText("ada", 1, "a-code"), itemText("ada", 1, `"name":"Renamed"`)))
		valid, err := f.Validation.Validate(t.Context(), f.actorOf(t, token), "a-code")
		if err != nil || !strings.Contains(valid.Item.Text(), `"name":"Renamed"`) {
			t.Errorf("%s, %v", valid.Item.Text(), err)
		}
	})
}

func TestOfSeveralLinesTheLastCounts(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, twoShops+lines(
			workspaceText("ada", `"quota":1`), workspaceText("ada", `"quota":2`),
			itemText("ada", 1, `"name":"first"`), itemText("ada", 1, `"name":"last"`),
			purchaseText("ada", 1, "a-code", `"price":1`), purchaseText("ada", 2, "A-CODE", `"price":2`), purchaseText("ada", 1, "a-Code", `"price":3`),
			keyText("ada", "web", `"key":"first-key-0123456789"`), keyText("ada", "web", `"key":"last-key-0123456789"`),
		))
		got := f.mustExport(t, true)
		for want, times := range map[string]int{
			`"quota":2`: 1, `"name":"last"`: 1, `"name":"first"`: 0, `"purchase_code"`: 1, `"purchase_code":"a-Code","license_type":"Regular","price":3.00`: 1,
			`"key":"last-key-0123456789"`: 1, `first-key`: 0,
		} {
			if n := strings.Count(got, want); n != times {
				t.Errorf("%s is there %d times, want %d", want, n, times)
			}
		}
		if f.rows(t, "purchases") != 1 {
			t.Errorf("%d purchases", f.rows(t, "purchases"))
		}
	})
}

// A code that a workspace has is nobody else's, in whatever letters; the first
// line of a file has it.
func TestClashOfCodes(t *testing.T) {
	const taken = "this purchase code already exists; codes are unique in the store and do not depend on upper and lower case"
	cases := []struct {
		name  string
		store string // imported before
		file  []string
		bad   []int // numbers of lines
		want  string
	}{
		{"with the store", purchaseText("bob", 3, "code"), []string{purchaseText("ada", 1, "CODE")}, []int{1}, "bob 3 code"},
		{"within the file, the first line has it", "", []string{purchaseText("ada", 1, "code"), purchaseText("bob", 3, "Code"), purchaseText("bob", 3, "other")}, []int{2}, "ada 1 code bob 3 other"},
		{"within the file, the owner may repeat it", "", []string{purchaseText("ada", 1, "code"), purchaseText("bob", 3, "Code"), purchaseText("ada", 2, "CODE")}, []int{2}, "ada 2 CODE"},
		{"the store counts before the file", purchaseText("bob", 3, "code"), []string{purchaseText("ada", 1, "CODE"), purchaseText("bob", 3, "Code", `"price":5`)}, []int{1}, "bob 3 Code"},
		{"with the store, twice", purchaseText("bob", 3, "code"), []string{purchaseText("ada", 1, "CODE"), purchaseText("ada", 2, "Code")}, []int{1, 2}, "bob 3 code"},
		{"no conflict within a workspace", purchaseText("ada", 1, "code"), []string{purchaseText("ada", 2, "CODE")}, nil, "ada 2 CODE"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			eitherShops(t, func(t *testing.T, f *fixture) {
				if c.store != "" {
					f.mustImport(t, lines(c.store))
				}
				report, bad := f.importText(t, lines(c.file...), transfer.ImportOptions{SkipBad: true})
				var numbers []int
				for _, r := range bad {
					numbers = append(numbers, r.Line)
					if r.Reason != taken {
						t.Errorf("line %d: %s", r.Line, r.Reason)
					}
				}
				if !slices.Equal(numbers, c.bad) || report.Bad != len(c.bad) {
					t.Errorf("bad lines %v, want %v", numbers, c.bad)
				}
				var got []string
				for _, workspace := range []string{"ada", "bob"} {
					err := f.Purchases(t.Context(), operator, workspace, PurchaseFilter{}, func(p Purchase) error {
						got = append(got, workspace, text(int(p.ItemID)), p.Code)
						return nil
					})
					if err != nil {
						t.Fatal(err)
					}
				}
				if strings.Join(got, " ") != c.want {
					t.Errorf("purchases %s, want %s", strings.Join(got, " "), c.want)
				}
			})
		})
	}
}

// A conflict is reported with the text of its line, for the file of rejected lines.
func TestBadLinesComeWithTheirTexts(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		file := []string{"nonsense", purchaseText("ada", 1, "code"), "", purchaseText("bob", 3, "CODE"), `{"type":"x"}`}
		got := map[int]string{}
		_, err := f.Transfer.Import(t.Context(), operator, strings.NewReader(lines(file...)), transfer.ImportOptions{
			Bad: func(line int, _ string, raw []byte) { got[line] = string(raw) },
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[int]string{1: file[0], 4: file[3], 5: file[4]}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestDryRunWritesNothing(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		counts := func() (n []int64) {
			for _, table := range []string{"workspaces", "items", "purchases", "keys", "changes", "audit"} {
				n = append(n, f.rows(t, table))
			}
			return n
		}
		before, exported := counts(), f.mustExport(t, false)
		file := lines(workspaceText("eve"), itemText("ada", 1, `"name":"new"`), purchaseText("ada", 1, "code"), keyText("ada", "web"), "bad")
		for _, skip := range []bool{false, true} {
			report, bad := f.importText(t, file, transfer.ImportOptions{DryRun: true, SkipBad: skip})
			want := transfer.ImportReport{Lines: 5, Bad: 1, Workspaces: transfer.Moved{New: 1}, Items: transfer.Moved{Changed: 1}, Purchases: transfer.Moved{New: 1}, Keys: transfer.Moved{New: 1},
				WeakCodes: transfer.Weak{Count: 1, LeastBits: 19, Lines: []int{3}}, NoPicture: transfer.Found{Count: 1, Lines: []int{2}}}
			if !reflect.DeepEqual(report, want) || len(bad) != 1 {
				t.Errorf("report %+v, want %+v", report, want)
			}
		}
		if !slices.Equal(counts(), before) || f.mustExport(t, false) != exported {
			t.Error("something was written")
		}
	})
}

// When a state changed is kept, given or taken from the clock.
func TestTimeOfAChangedState(t *testing.T) {
	given := `"state_at":"2026-05-05T05:05:05Z"`
	cases := []struct{ name, first, second, want string }{
		{"a new purchase keeps what its line says", `"state":"refunded",` + given, "", "refunded 2026-05-05T05:05:05Z"},
		{"of a new purchase nothing is made up", `"state":"refunded"`, "", "refunded"},
		{"a change is dated now", `"state":"active"`, `"state":"revoked"`, "revoked 2026-11-01T12:00:00Z"},
		{"a change is dated as its line says", `"state":"active"`, `"state":"revoked",` + given, "revoked 2026-05-05T05:05:05Z"},
		{"the same state keeps its time", `"state":"refunded",` + given, `"state":"refunded"`, "refunded 2026-05-05T05:05:05Z"},
		{"another bad state is dated anew", `"state":"refunded",` + given, `"state":"charged_back"`, "charged_back 2026-11-01T12:00:00Z"},
		{"an active purchase has none", `"state":"refunded",` + given, `"state":"active"`, "active"},
		{"an absent state means active", `"state":"refunded",` + given, `"downloaded":false`, "active"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			eitherShops(t, func(t *testing.T, f *fixture) {
				f.mustImport(t, lines(purchaseText("ada", 1, "code", c.first)))
				if c.second != "" {
					f.mustImport(t, lines(purchaseText("ada", 1, "code", c.second)))
					if again := f.mustImport(t, lines(purchaseText("ada", 1, "code", c.second))); again.Purchases.Same != 1 {
						t.Errorf("the second time: %+v", again.Purchases)
					}
				}
				shown, err := f.Validation.Show(t.Context(), operator, "code")
				if err != nil {
					t.Fatal(err)
				}
				got := string(shown.Purchase.State)
				if !shown.Purchase.StateAt.IsZero() {
					got += " " + shown.Purchase.StateAt.String()
				}
				if got != c.want {
					t.Errorf("%s, want %s", got, c.want)
				}
			})
		})
	}
}

package transfer_test

import (
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/sample"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
	"github.com/google/go-cmp/cmp"
)

func TestTheSameFileTwiceChangesNothing(t *testing.T) {
	file := sampleText(t, sample.Options{Keys: true})
	storetest.Engines(t, func(t *testing.T, f *storetest.Fixture) {
		first := f.MustImport(t, file)
		want := transfer.ImportReport{
			Lines: strings.Count(file, "\n"), Written: true, Workspaces: transfer.Moved{New: f.Rows(t, "workspaces")}, Keys: transfer.Moved{New: f.Rows(t, "keys")},
			Items: transfer.Moved{New: f.Rows(t, "items")}, Purchases: transfer.Moved{New: f.Rows(t, "purchases")},
		}
		if diff := cmp.Diff(want, first); diff != "" || first.Purchases.New < 1200 {
			t.Errorf("the first import: %s", diff)
		}
		exported, dumped := f.MustExport(t, true), f.Rows(t, "items")+f.Rows(t, "purchases")
		second := f.MustImport(t, file)
		same := func(m transfer.Moved) transfer.Moved { return transfer.Moved{Same: m.New} }
		want = transfer.ImportReport{
			Lines: first.Lines, Written: true, Workspaces: same(first.Workspaces), Keys: same(first.Keys), Items: same(first.Items), Purchases: same(first.Purchases),
		}
		expect.Equalf(t, cmp.Diff(want, second), "", "the second import")
		if f.MustExport(t, true) != exported || f.Rows(t, "items")+f.Rows(t, "purchases") != dumped {
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
		{`"username":"shop-#"`, func(i int, m ...string) string { return storetest.WorkspaceText("shop-"+storetest.Text(i), m...) }, nil, []string{
			`"name":{"firstname":"Augusta","lastname":""}`, `"email":"new@shop.example"`, `"balance":-3.07`, `"currency":"EUR"`,
			`"profile":{"heading":"h"}`, `"profile":{"description":"<d>"}`, `"profile":{"contact":{"email":"c@d.example"}}`,
			`"profile":{"social_links":{"z":` + https + `,"a":` + https + `}}`, `"profile":{"media":{"avatar":` + https + `}}`,
			`"profile":{"media":{"cover":` + https + `}}`, `"registered_at":"2020-01-01T00:00:00Z"`,
			`"always_200":true`, `"refuse_query_keys":true`, `"quota":5`,
		}},
		{`"id":#,`, func(i int, m ...string) string { return storetest.ItemText("ada", i, m...) }, nil, []string{
			`"kind":"audio"`, `"kind":"video"`, `"support":true`, `"name":"new"`, `"description":"<d>"`, `"category":"c"`, `"sub_category":"s"`,
			`"options":["b","a"]`, `"version":"2"`, `"version":1.5`, `"demo_link":` + https, `"tags":["t"]`, `"media":{"thumbnail":` + https + `}`,
			`"media":{"preview_image":` + https + `}`, `"media":{"preview_video":` + https + `}`, `"media":{"preview_audio":` + https + `}`,
			`"media":{"screenshots":[` + https + `]}`, `"price":{"regular":0.1}`, `"price":{"extended":49}`, `"currency":"EUR"`,
			`"published_at":"2020-01-01T00:00:00Z"`,
		}},
		{`"a-code-#"`, func(i int, m ...string) string {
			return storetest.PurchaseText("ada", 1, "a-code-"+storetest.Text(i), m...)
		}, nil, []string{
			`"item_id":2`, `"purchase_code":"A-CODE-#"`, `"license_type":"Extended"`, `"price":0.01`, `"currency":"EUR"`,
			`"supported_until":"2025-01-01T00:00:00Z"`, `"downloaded":true`, `"date":"2020-01-01T00:00:00Z"`, `"state":"refunded"`,
			`"buyer":{"name":"b"}`, `"buyer":{"email":"b@c.example"}`,
		}},
		{`"name":"bound #"`, func(i int, m ...string) string { return storetest.KeyText("ada", "bound "+storetest.Text(i), m...) },
			[]string{`"class":"publishable","item_id":1`, `"key":"key-number-#-of-many"`}, []string{
				`"class":"publishable","item_id":2`, `"class":"secret"`, `"key":"another-key-0123456789"`, `"expires_at":"2027-01-01T00:00:00Z"`,
				`"revoked_at":"2026-01-01T00:00:00Z"`, `"previous_key":"earlier-key-0123456789"`, `"previous_expires_at":"2026-12-01T00:00:00Z"`,
			}},
	}
	var before, after, markers, edits []string
	for _, c := range cases {
		for _, member := range c.members {
			i := 100 + len(edits)
			numbered := func(s string) string { return strings.ReplaceAll(s, "#", storetest.Text(i)) }
			before = append(before, numbered(c.line(i, c.first...)))
			after = append(after, numbered(c.line(i, member)))
			markers, edits = append(markers, numbered(c.marker)), append(edits, member)
		}
	}
	storetest.Engines(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.TwoShops+storetest.Lines(before...))
		was := strings.Split(f.MustExport(t, true), "\n")
		sum := func(count func(transfer.Moved) int64, r transfer.ImportReport) int64 {
			return count(r.Workspaces) + count(r.Items) + count(r.Purchases) + count(r.Keys)
		}
		report := f.MustImport(t, storetest.Lines(after...))
		if got := sum(func(m transfer.Moved) int64 { return m.Changed }, report); got != int64(len(edits)) {
			t.Errorf("%d lines changed, want %d: %+v", got, len(edits), report)
		}
		now := strings.Split(f.MustExport(t, true), "\n")
		for i, marker := range markers {
			isOf := func(line string) bool { return strings.Contains(strings.ToLower(line), marker) }
			x, y := slices.IndexFunc(was, isOf), slices.IndexFunc(now, isOf)
			if x < 0 || y < 0 || was[x] == now[y] {
				t.Errorf("%s: the export has lines %d and %d, which do not differ", edits[i], x, y)
			}
		}
		report = f.MustImport(t, storetest.Lines(after...))
		if got := sum(func(m transfer.Moved) int64 { return m.Same }, report); got != int64(len(edits)) {
			t.Errorf("the second time %d are the same, want %d: %+v", got, len(edits), report)
		}
	})
}

func TestEditedItemIsPrintedAnew(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		_, token := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, "a-code"), storetest.ItemText("ada", 1, `"name":"Renamed"`)))
		valid, err := f.Validation.Validate(t.Context(), f.ActorOf(t, token), "a-code")
		if err != nil || !strings.Contains(valid.Item.Text(), `"name":"Renamed"`) {
			t.Errorf("%s, %v", valid.Item.Text(), err)
		}
	})
}

func TestClashOfCodes(t *testing.T) {
	const taken = "this purchase code already exists; codes are unique in the store and do not depend on upper and lower case"
	cases := []struct {
		name  string
		store string // imported before
		file  []string
		bad   []int // numbers of lines
		want  string
	}{
		{"with the store", storetest.PurchaseText("bob", 3, "code"), []string{storetest.PurchaseText("ada", 1, "CODE")}, []int{1}, "bob 3 code"},
		{"within the file, the first line has it", "", []string{storetest.PurchaseText("ada", 1, "code"), storetest.PurchaseText("bob", 3, "Code"), storetest.PurchaseText("bob", 3, "other")}, []int{2}, "ada 1 code bob 3 other"},
		{"within the file, the owner may repeat it", "", []string{storetest.PurchaseText("ada", 1, "code"), storetest.PurchaseText("bob", 3, "Code"), storetest.PurchaseText("ada", 1, "CODE")}, []int{2}, "ada 1 code"},
		{"the store counts before the file", storetest.PurchaseText("bob", 3, "code"), []string{storetest.PurchaseText("ada", 1, "CODE"), storetest.PurchaseText("bob", 3, "Code", `"price":5`)}, []int{1}, "bob 3 Code"},
		{"with the store, twice", storetest.PurchaseText("bob", 3, "code"), []string{storetest.PurchaseText("ada", 1, "CODE"), storetest.PurchaseText("ada", 2, "Code")}, []int{1, 2}, "bob 3 code"},
		{"no conflict within a workspace", storetest.PurchaseText("ada", 1, "code"), []string{storetest.PurchaseText("ada", 2, "CODE")}, nil, "ada 2 CODE"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			storetest.EitherShops(t, func(t *testing.T, f *storetest.Fixture) {
				if c.store != "" {
					f.MustImport(t, storetest.Lines(c.store))
				}
				report, bad := f.ImportText(t, storetest.Lines(c.file...), transfer.ImportOptions{SkipBad: true})
				var numbers []int
				for _, r := range bad {
					numbers = append(numbers, r.Line)
					expect.Equalf(t, r.Reason, taken, "line %d", r.Line)
				}
				if !slices.Equal(numbers, c.bad) || report.Bad != len(c.bad) {
					t.Errorf("bad lines %v, want %v", numbers, c.bad)
				}
				var got []string
				for _, workspace := range []string{"ada", "bob"} {
					must.Do(t, f.Purchases(t.Context(), storetest.Operator, workspace, store.PurchaseFilter{}, func(p store.Purchase) error {
						got = append(got, workspace, storetest.Text(int(p.ItemID)), p.Code)
						return nil
					}))
				}
				expect.Equalf(t, strings.Join(got, " "), c.want, "purchases")
			})
		})
	}
}

// A conflict is reported with the text of its line, for the file of rejected lines.
func TestBadLinesComeWithTheirTexts(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		file := []string{"nonsense", storetest.PurchaseText("ada", 1, "code"), "", storetest.PurchaseText("bob", 3, "CODE"), `{"type":"x"}`}
		got := map[int]string{}
		must.Get(f.Transfer.Import(t.Context(), storetest.Operator, strings.NewReader(storetest.Lines(file...)), transfer.ImportOptions{
			Bad: func(line int, _ string, raw []byte) { got[line] = string(raw) },
		}))(t)
		expect.Equal(t, cmp.Diff(map[int]string{1: file[0], 4: file[3], 5: file[4]}, got), "")
	})
}

func TestDryRunWritesNothing(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		counts := func() (n []int64) {
			for _, table := range []string{"workspaces", "items", "purchases", "keys", "changes", "audit"} {
				n = append(n, f.Rows(t, table))
			}
			return n
		}
		before, exported := counts(), f.MustExport(t, false)
		file := storetest.Lines(storetest.WorkspaceText("eve"), storetest.ItemText("ada", 1, `"name":"new"`), storetest.PurchaseText("ada", 1, "code"), storetest.KeyText("ada", "web"), "bad")
		for _, skip := range []bool{false, true} {
			report, bad := f.ImportText(t, file, transfer.ImportOptions{DryRun: true, SkipBad: skip})
			want := transfer.ImportReport{Lines: 5, Bad: 1, Workspaces: transfer.Moved{New: 1}, Items: transfer.Moved{Changed: 1}, Purchases: transfer.Moved{New: 1}, Keys: transfer.Moved{New: 1},
				WeakCodes: transfer.Weak{Count: 1, LeastBits: 19, Lines: []int{3}}, NoPicture: transfer.Found{Count: 1, Lines: []int{2}}}
			if !reflect.DeepEqual(report, want) || len(bad) != 1 {
				t.Errorf("report %+v, want %+v", report, want)
			}
		}
		if !slices.Equal(counts(), before) || f.MustExport(t, false) != exported {
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
			storetest.EitherShops(t, func(t *testing.T, f *storetest.Fixture) {
				f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, "code", c.first)))
				if c.second != "" {
					f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, "code", c.second)))
					if again := f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, "code", c.second))); again.Purchases.Same != 1 {
						t.Errorf("the second time: %+v", again.Purchases)
					}
				}
				shown := must.Get(f.Validation.Show(t.Context(), storetest.Operator, "code"))(t)
				got := string(shown.Purchase.State)
				if !shown.Purchase.StateAt.IsZero() {
					got += " " + shown.Purchase.StateAt.String()
				}
				expect.Equal(t, got, c.want)
			})
		})
	}
}

// mustImportSample imports the sample shop.
func mustImportSample(t testing.TB, f *storetest.Fixture, o sample.Options) {
	t.Helper()
	f.MustImport(t, sampleText(t, o))
}

// sampleText is the sample shop as JSON Lines.
func sampleText(t testing.TB, o sample.Options) string {
	t.Helper()
	return string(must.Get(io.ReadAll(sample.Reader(o)))(t))
}

package membership

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
)

// subscribers reads a list that has to be valid.
func subscribers(t *testing.T, text string) []Subscriber {
	t.Helper()
	list := must.Get(ReadSubscribers(strings.NewReader(text), func(line int, reason string) { t.Errorf("line %d: %s", line, reason) }))(t)
	return list
}

func TestAListOfSubscribersIsCSVOrJSONLines(t *testing.T) {
	want := []Subscriber{{2, "7", "token-1", ""}, {3, "8", "", "GPA.1"}}
	csv := subscribers(t, "\ufeffUser_ID,note,purchase_token,order_id\r\n7,\"a, b\", token-1 ,\r\n8,,,GPA.1\r\n")
	lines := subscribers(t, "\n{\"user_id\":\"7\",\"purchase_token\":\"token-1\"}\n{\"user_id\":\"8\",\"order_id\":\"GPA.1\",\"note\":1}\n")
	expect.Equal(t, cmp.Diff(want, csv)+cmp.Diff(want, lines), "")
	if only := subscribers(t, "user_id,order_id\n7,GPA.1\n7,GPA.1\n"); len(only) != 2 {
		t.Errorf("%v", only)
	}
}

func TestInvalidLinesOfSubscribersAreNamed(t *testing.T) {
	cases := map[string]string{
		"user_id,purchase_token\n7,SECRET one\n":                "2 purchase_token: it is malformed",
		"user_id,purchase_token\n7,\n":                          "2 the line needs a purchase_token or an order_id, and not both",
		"user_id,purchase_token\n,SECRET\n":                     "2 user_id: ",
		"user_id,purchase_token\n7,SECRET\n8,SECRET\n":          "3 line 2 has this purchase for another user",
		`{"user_id":7,"purchase_token":"SECRET"}`:               "1 it is not a JSON object",
		`{"user_id":"7"`:                                        "1 it is not a JSON object",
		"7,SECRET\n":                                            "The first row has to name the columns",
		"":                                                      "The first row has to name the columns",
		"user_id,purchase_token\n7,\"SECRET\n":                  "not valid CSV",
		"user_id,purchase_token\n7,SECRET,x\n":                  "Line 2 is not valid CSV",
		`{"user_id":"` + strings.Repeat("x", maxSubscriberLine): "Line 1 is longer than",
	}
	for text, want := range cases {
		var said []string
		_, err := ReadSubscribers(strings.NewReader(text), func(line int, reason string) { said = append(said, fmt.Sprint(line, " ", reason)) })
		if err != nil {
			said = append(said, err.Error())
		}
		if got := strings.Join(said, "\n"); !strings.Contains(got, want) || strings.Contains(got, "SECRET") {
			t.Errorf("%.60q: %q, want %q", text, got, want)
		}
	}
}

func FuzzSubscribers(f *testing.F) {
	f.Add("user_id,purchase_token\n7,abc\n")
	f.Add("{\"user_id\":\"7\",\"order_id\":\"GPA.1\"}\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, _ := ReadSubscribers(strings.NewReader(text), func(int, string) {})
		for _, one := range list {
			if checkUser(one.User) != nil || (one.Token == "") == (one.OrderID == "") || one.Line < 1 {
				t.Errorf("%+v", one)
			}
		}
	})
}

func TestSubscribersOfAnotherBackendAreImported(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.selling.Policy = entitle.Policy{Unbound: entitle.Strict, Unknown: entitle.RefuseUnknown}
		f.sell("ours", sub("gold_monthly", f.accountOf("ben")))
		f.sell("foreign", sub("gold_monthly", "of another backend"))
		f.sell("unbound", sub("silver_monthly", ""))
		f.sell("other", sub("gold_monthly", f.accountOf("ben")))
		f.sell("unmapped", sub("bronze_monthly", ""))
		ordered := sub("gold_monthly", "")
		ordered.Items[0].OrderID = "GPA.7"
		f.sell("ordered", ordered)
		f.store.orders = map[string]string{"GPA.7": "ordered"}
		f.mustVerify(t, "ben", "ours")
		must.Get(f.Intend(t.Context(), "ben", nil))(t)
		f.eventTypes()
		list := subscribers(t, "user_id,purchase_token,order_id\nana,foreign,\nben,ours,\nana,other,\neva,unbound,\nana,unmapped,\nana,nothing,\ntom,,GPA.7\ntom,,GPA.8\n")
		want := SubscriberImport{Lines: 8, New: 3, Unchanged: 1, Unknown: 2, Others: 1, Refused: 1, Problems: []SubscriberProblem{
			{4, "owned_by_other_user", "This purchase belongs to another member"},
			{6, "product_not_mapped", "The product of this purchase is not mapped to a membership package"},
			{7, "invalid_token", "The store does not know this purchase"}, {9, "invalid_token", "The store does not know this order"},
		}}
		imports := func(dryRun bool) {
			t.Helper()
			done := must.Get(f.ImportSubscribers(t.Context(), program, list, ImportOptions{DryRun: dryRun}))(t)
			expect.Equal(t, cmp.Diff(want, done), "")
		}
		imports(true)
		f.wantAlerts(t, 0)
		f.wantEvents(t)
		f.wantMembership(t, "ana", entitle.None, 0, 0)
		imports(false)
		f.wantMembership(t, "ana", entitle.Active, gold, 1)
		f.wantMembership(t, "eva", entitle.Active, silver, 1)
		f.wantMembership(t, "tom", entitle.Active, gold, 1)
		if f.run(t); f.store.count("acknowledge foreign") != 1 {
			t.Error("an imported purchase was not acknowledged")
		}
		asked := f.store.count("foreign")
		want.New, want.Unchanged = 0, 4
		f.eventTypes()
		imports(false)
		f.wantEvents(t)
		expect.Equalf(t, f.store.count("foreign"), asked, "an imported purchase was read again")
		f.mustVerify(t, "ana", "foreign")
		_, err := f.Verify(t.Context(), "eva", "foreign", "")
		wantCode(t, err, "owned_by_other_user")
	})
}

func TestAnImportEndsWithAnOutageAndGoesOnWhenRepeated(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		text := "user_id,purchase_token\n"
		for i := range importBatch + 5 {
			token := fmt.Sprint("token-", i)
			f.sell(token, sub("gold_monthly", "of another backend"))
			text += fmt.Sprintf("user-%d,%s\n", i, token)
		}
		list := subscribers(t, text)
		reports := 0
		o := ImportOptions{Progress: func(int) {
			reports++
			f.setDown(unavailable)
		}}
		done, err := f.ImportSubscribers(t.Context(), program, list, o)
		wantCode(t, err, "store_unavailable")
		if done.New != importBatch || done.Lines != importBatch || reports != 1 {
			t.Errorf("%+v, %d reports", done, reports)
		}
		f.setDown(nil)
		done, err = f.ImportSubscribers(t.Context(), program, list, ImportOptions{})
		if err != nil || done.New != 5 || done.Unchanged != importBatch {
			t.Errorf("%+v, %v", done, err)
		}
		f.setDown(&play.Error{Reason: play.Unauthorized})
		_, err = f.ImportSubscribers(t.Context(), program, []Subscriber{{Line: 1, User: "ana", OrderID: "GPA.1"}}, ImportOptions{})
		wantCode(t, err, "store_not_authorised")
	})
}

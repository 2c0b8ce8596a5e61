package docs_test

import (
	"os"
	"slices"
	"testing"

	"github.com/countersign/countersign/docs"
	"github.com/countersign/countersign/internal/must"
)

func reference(t *testing.T, file string) docs.Reference {
	t.Helper()
	source := must.Get(os.ReadFile(file))(t)
	return must.Get(docs.ReadReference(source))(t)
}

func operation(t *testing.T, r docs.Reference, id string) docs.Operation {
	t.Helper()
	for _, g := range r.Groups {
		for _, o := range g.Operations {
			if o.ID == id {
				return o
			}
		}
	}
	t.Fatalf("no operation %s", id)
	return docs.Operation{}
}

func TestTheReferenceOfAnOperationFollowsTheDocument(t *testing.T) {
	o := operation(t, reference(t, "../internal/store/api/openapi.json"), "validatePurchase")
	if o.Method != "POST" || o.Path != "/api/purchases/validation" || o.Summary == "" || o.HTML == "" || o.Example == "" {
		t.Errorf("operation %+v", o)
	}
	if !slices.ContainsFunc(o.Body, func(f docs.Field) bool { return f.Name == "purchase_code" && f.HTML != "" }) {
		t.Errorf("body %+v", o.Body)
	}
	ok := o.Responses[0]
	var names []string
	for _, f := range ok.Fields {
		names = append(names, f.Name)
	}
	for _, want := range []string{"status", "data.purchase.purchase_code", "data.purchase.item.price.regular", "data.purchase.item.options"} {
		if !slices.Contains(names, want) {
			t.Errorf("the response of %s has no member %s: %v", ok.Status, want, names)
		}
	}
	if ok.Status != "200" || ok.Example == "" || slices.Index(names, "status") != 0 {
		t.Errorf("first response %s, members %v", ok.Status, names)
	}
}

func TestEveryResponseOfBothDocumentsIsDescribed(t *testing.T) {
	for _, file := range []string{"../internal/store/api/openapi.json", "../internal/addon/api/openapi.json"} {
		for _, g := range reference(t, file).Groups {
			if len(g.Operations) == 0 {
				t.Errorf("%s: no operations of %s", file, g.Name)
			}
			for _, o := range g.Operations {
				for _, r := range o.Responses {
					if r.HTML == "" || r.Status >= "400" && len(r.Fields) == 0 {
						t.Errorf("%s: %s %s, %s: %+v", file, o.Method, o.Path, r.Status, r)
					}
				}
			}
		}
	}
}

func TestABrokenDocumentIsAnError(t *testing.T) {
	for _, source := range []string{"", "{", `{"paths":{"/x":{"get":{"tags":["nowhere"]}}}}`} {
		if _, err := docs.ReadReference([]byte(source)); err == nil {
			t.Errorf("%q: no error", source)
		}
	}
}

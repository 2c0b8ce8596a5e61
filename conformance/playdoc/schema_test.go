package playdoc_test

import (
	"encoding/json"
	"math"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/play/publisher"
)

// schemas are Google's objects: their members, and the type of each.
type schemas map[string]map[string]string

func readSchemas(t *testing.T) schemas {
	t.Helper()
	file, err := os.ReadFile("testdata/schemas.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := schemas{}
	for line := range strings.Lines(string(file)) {
		name, members, found := strings.Cut(line, ":")
		if !found || strings.HasPrefix(line, "#") {
			continue
		}
		all[name] = map[string]string{}
		for _, member := range strings.Fields(members) {
			key, kind, _ := strings.Cut(member, "=")
			all[name][key] = kind
		}
	}
	return all
}

// check compares a value with its type, and fails the test for each member that Google does
// not have, or has with another type.
func (all schemas) check(t *testing.T, path, kind string, value any) {
	t.Helper()
	ok := false
	switch v := value.(type) {
	case string:
		_, err := strconv.ParseInt(v, 10, 64)
		ok = kind == "string" || kind == "int64" && err == nil
	case bool:
		ok = kind == "boolean"
	case float64:
		ok = kind == "integer" && v == math.Trunc(v)
	case []any:
		element, isList := strings.CutPrefix(kind, "[]")
		ok = isList
		for _, one := range v {
			all.check(t, path+"[]", element, one)
		}
	case map[string]any:
		members, known := all[kind]
		ok = known
		for name, member := range v {
			all.check(t, path+"."+name, members[name], member)
		}
	}
	if !ok {
		t.Errorf("%s: %v is not of the type %q", path, value, kind)
	}
}

// readAnswer reads an answer into a struct of the client. Each member has to be one of Google's
// object of that name, also those that the struct does not have.
func readAnswer(t *testing.T, answer []byte, into any) {
	t.Helper()
	name := reflect.TypeOf(into).Elem().Name()
	readSchemas(t).check(t, name, name, decode(t, answer))
	if err := json.Unmarshal(answer, into); err != nil {
		t.Errorf("%v in %s", err, answer)
	}
}

// wantNoDefaults fails the test for members with the default of their type, which Google leaves out.
func wantNoDefaults(t *testing.T, path string, value any) {
	t.Helper()
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			wantNoDefaults(t, path+"."+name, member)
		}
		return
	case []any:
		for _, one := range v {
			wantNoDefaults(t, path+"[]", one)
		}
		if len(v) > 0 {
			return
		}
	default:
		if v != nil && !reflect.ValueOf(v).IsZero() {
			return
		}
	}
	t.Errorf("%s is %v", path, value)
}

func TestTheStructsOfTheClientAreGoogles(t *testing.T) {
	for _, object := range []any{
		&publisher.SubscriptionPurchaseV2{}, &publisher.BatchGetOrdersResponse{}, &publisher.VoidedPurchasesListResponse{},
		&publisher.ListSubscriptionsResponse{}, &publisher.ProductPurchaseV2{}, &publisher.ListOneTimeProductsResponse{}, &publisher.DeferSubscriptionPurchaseResponse{},
		&publisher.SubscriptionPurchasesAcknowledgeRequest{}, &publisher.CancelSubscriptionPurchaseRequest{},
		&publisher.RevokeSubscriptionPurchaseRequest{}, &publisher.DeferSubscriptionPurchaseRequest{}, &publisher.OrdersReviewRefundRequest{},
	} {
		fill(reflect.ValueOf(object).Elem())
		written, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		name := reflect.TypeOf(object).Elem().Name()
		readSchemas(t).check(t, name, name, decode(t, written))
	}
}

// fill sets each field to a value that is written.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.String:
		v.SetString("x")
	case reflect.Int64:
		v.SetInt(1)
	case reflect.Bool:
		v.SetBool(true)
	}
}

package web

import (
	"errors"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/must"
)

func TestListenSaysWhenTheAddressIsInUse(t *testing.T) {
	ln := must.Get(Listen("127.0.0.1:0"))(t)
	defer ln.Close()
	_, err := Listen(ln.Addr().String())
	apiErr, ok := errors.AsType[*countersign.Error](err)
	if !ok || apiErr.Kind != countersign.KindConflict {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{ln.Addr().String(), "in use"} {
		if !strings.Contains(apiErr.Message, want) {
			t.Errorf("%q lacks %q", apiErr.Message, want)
		}
	}
}

func TestListenNamesAnAddressThatIsNone(t *testing.T) {
	if _, err := Listen("127.0.0.1:http-no-such"); err == nil || !strings.Contains(err.Error(), "http-no-such") {
		t.Errorf("got %v", err)
	}
}

package license_test

import (
	"testing"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/dbtest"
)

var (
	operator, user = addontest.Operator, addontest.User
	client, noon   = addontest.Client, addontest.Noon
)

func TestMain(m *testing.M) {
	dbtest.Setup()
	m.Run()
}

package credential_test

import (
	"testing"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/dbtest"
)

var (
	operator, user, program = addontest.Operator, addontest.User, addontest.Program
	client, noon            = addontest.Client, addontest.Noon
)

func TestMain(m *testing.M) {
	dbtest.Setup()
	m.Run()
}

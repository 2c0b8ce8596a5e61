package validation_test

import (
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
)

func TestMain(m *testing.M) {
	dbtest.Setup()
	m.Run()
}

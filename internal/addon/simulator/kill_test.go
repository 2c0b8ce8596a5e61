package simulator_test

import (
	"errors"

	"github.com/countersign/countersign/internal/dbtest"
)

func beKilled(string, dbtest.DB) error { return errors.New("unknown step") }

package web

import (
	"time"

	"github.com/countersign/countersign/internal/dbtest"
)

func newClock() *dbtest.Clock { return dbtest.NewClock(time.Date(2024, 4, 27, 12, 0, 0, 0, time.UTC)) }

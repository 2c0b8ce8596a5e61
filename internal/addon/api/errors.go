package api

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/web"
)

// nextSteps says what to do about errors, by their codes.
var nextSteps = fault.NextSteps{
	fault.CodeUpdateNeeded: "run: countersign addon update",
	"credential_inactive":  "switch them on under /admincp/apis",
	"not_allowed":          "links and tokens are made at the command line",
}

func errorBody(err *countersign.Error) []byte {
	return web.DetailedBody(fault.Of(nextSteps.Add(err)))
}

package api

import (
	"github.com/countersign/countersign/internal/limit"
	"github.com/countersign/countersign/internal/web"
)

// forConsole returns the front end of calls that managers of a workspace make on a page, with
// one of its keys. Such calls are logged, counted and held to the quota as others are. Their
// failures are not counted for the address: who makes them guesses nothing, and the programs
// behind the same address would be locked out with them.
func (f *frontEnd) forConsole() *frontEnd {
	console := *f
	console.limits = web.NewRateLimits(limit.NewGuesses(limit.Options{}))
	return &console
}

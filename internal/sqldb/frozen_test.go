package sqldb

import (
	"net/url"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
)

// On PostgreSQL a user does not see what others do.
func TestAServerOfAnotherUserOfTheDatabaseIsNoticed(t *testing.T) {
	t.Parallel()
	at := dbtest.Alone(t)
	server := migrated(t, at)
	exec(t, server, `CREATE ROLE mover LOGIN`)
	exec(t, server, `GRANT SELECT ON ALL TABLES IN SCHEMA public TO mover`)
	exec(t, server, `GRANT UPDATE ON ALL TABLES IN SCHEMA public TO mover`)
	exec(t, server, `GRANT SELECT ON ALL SEQUENCES IN SCHEMA public TO mover`)
	mover := open(t, Options{URL: withUser(t, at.URL, url.User("mover")), Schemas: []Schema{twoSteps()}})
	read := func(c *Content) error { _, err := c.Meta(t.Context(), "key_check"); return err }
	must.Do(t, mover.Frozen(t.Context(), read))
	feed(t, server)
	if err := mover.Frozen(t.Context(), read); !fault.HasCode(err, CodeInUse) {
		t.Errorf("beside a server: %v", err)
	}
}

package conformance

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/dbtest"
)

// poolSize is how many databases on PostgreSQL the cases of a simulation share. To copy a database
// takes longer than a case.
const poolSize = 2

// pool holds the databases of a simulation on PostgreSQL that no case uses now. A zero DB stands
// for one that was not made yet.
type pool struct {
	free chan dbtest.DB
	test *testing.T // which lasts as long as the databases
}

func newPools(t *testing.T) map[string]pool {
	pools := map[string]pool{}
	for _, simulation := range simulationNames {
		p := pool{make(chan dbtest.DB, poolSize), t}
		for range poolSize {
			p.free <- dbtest.DB{}
		}
		pools[simulation] = p
	}
	return pools
}

// database returns a copy of the template of a simulation, for one case.
func (p pool) database(t *testing.T, simulation, engine string) dbtest.DB {
	t.Helper()
	if engine != dbtest.Postgres {
		return templates[simulation].New(t, engine)
	}
	at := <-p.free
	t.Cleanup(func() { p.free <- at })
	if at.URL == "" {
		dbtest.New(t, engine) // without PostgreSQL it skips the case; the next line would skip the whole test
		at = templates[simulation].New(p.test, engine)
		p.run(t, at, keepContent)
		return at
	}
	p.run(t, at, restoreContent)
	return at
}

// keepContent copies the content of all tables.
const keepContent = `DO $$ DECLARE t record; BEGIN
	CREATE SCHEMA kept;
	FOR t IN SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' LOOP
		EXECUTE format('CREATE TABLE kept.%I AS TABLE public.%I', t.name, t.name);
	END LOOP;
END $$`

// restoreContent brings all tables back to that content.
const restoreContent = `DO $$ DECLARE t record; used boolean; BEGIN
	FOR t IN SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' LOOP
		EXECUTE format('SELECT EXISTS (SELECT FROM public.%I)', t.name) INTO used;
		IF used THEN
			EXECUTE format('TRUNCATE public.%I CASCADE', t.name);
		END IF;
		EXECUTE format('INSERT INTO public.%I OVERRIDING SYSTEM VALUE SELECT * FROM kept.%I', t.name, t.name);
	END LOOP;
END $$`

func (p pool) run(t *testing.T, at dbtest.DB, statement string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, at.URL)
	if err == nil {
		_, err = conn.Exec(ctx, statement)
		err = errors.Join(err, conn.Close(ctx))
	}
	if err != nil {
		t.Fatal(fmt.Errorf("the database of a case: %w", err))
	}
}

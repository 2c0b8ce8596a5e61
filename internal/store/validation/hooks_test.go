package validation

import "github.com/countersign/countersign/internal/sqldb"

// Database is the database of the store.
func (v *Validator) Database() *sqldb.DB { return v.db.Queries.DB() }

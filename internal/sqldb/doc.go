// Package sqldb opens a database, SQLite or PostgreSQL, and offers one interface to
// query packages: one SQL text with $n arguments, transactions, a change feed for
// caches, migrations, and backups. Errors of both drivers have one form.
package sqldb

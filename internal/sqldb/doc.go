// Package sqldb opens a database on either engine, SQLite or PostgreSQL, and
// gives the query packages one way to use it: one text of SQL with $n
// arguments, transactions, a feed of changes for whoever keeps rows in memory,
// migrations, and backups. Errors of both drivers leave it in one form.
package sqldb

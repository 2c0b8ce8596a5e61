// Package dbtest gives tests a fresh, empty database on each engine. Only tests
// import it.
//
// PostgreSQL is the server that COUNTERSIGN_TEST_POSTGRES names (a URL whose
// user may create databases), else a private throw-away server that is started
// once in a test process and ends with it, else tests on PostgreSQL are skipped.
// With COUNTERSIGN_REQUIRE_ALL=1 that skip is a failure.
package dbtest

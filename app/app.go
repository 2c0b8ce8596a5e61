// Package app is what a mobile client does when it starts: it opens its license for the domain of its site (spec 5.7),
// and reads the site's public settings (spec 4.5).
package app

// Package rules holds what single values of the store have to be, whoever writes them:
// workspaces, items, purchases, their codes and the values of API keys. Nothing in it
// has a state of its own.
package rules

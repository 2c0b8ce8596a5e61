package main

import "github.com/spf13/cobra"

func newApp(a *app) *cobra.Command {
	return newGroup(&cobra.Command{
		Use: "app", Short: "The mobile client: its start, its signing key and its names", SuggestionsMinimumDistance: 2,
	}, newAppStart(a), newAppKeystore(a), newAppCheck(a))
}

package app

// ParseSettings is for the fuzz target.
var ParseSettings = parseSettings

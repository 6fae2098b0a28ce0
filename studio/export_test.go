package studio

// MayLoad is tested by itself: with a mistake in it, a test would call other machines.
var MayLoad = mayLoad

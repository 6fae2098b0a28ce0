package studio

// IsPublic and PicturesOf are tested by themselves: with a mistake in them, a test would call other machines.
var (
	IsPublic   = isPublic
	PicturesOf = picturesOf
)

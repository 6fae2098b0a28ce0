package definition

// The rules about the file. Those about what it says are the contract's: see package signpost.
const (
	ruleSyntax          = "syntax"
	ruleUnknownField    = "unknown-field"
	ruleVersionMismatch = "version-mismatch"
	ruleUnknownModifier = "unknown-modifier"
	ruleUnknownFeature  = "unknown-feature"
	ruleBasePath        = "base-path"
)

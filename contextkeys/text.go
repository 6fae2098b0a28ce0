package contextkeys

// DecodeText returns the JSON text in a ctx parameter, in the forms that [Decode] accepts. It does not look at the
// text. It is for programs that see many requests and few of their keys.
func DecodeText(ctx string) ([]byte, error) { return decodeBase64(ctx) }

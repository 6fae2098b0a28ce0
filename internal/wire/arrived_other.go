//go:build !unix

package wire

// arrived cannot be told without reading on this system.
func (c *Conn) arrived() bool { return false }

// await cannot wait without reading on this system.
func (c *Conn) await() bool { return false }

//go:build !linux

package source

import (
	"io/fs"
	"os"
)

// systemIdentity is portable. It misses changes that keep size and modification time.
func systemIdentity(info fs.FileInfo) (device, inode uint64, changed int64) {
	return 0, 0, info.ModTime().UnixNano()
}

func statIdentity(path string) (identity, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return identity{}, false
	}
	return identityOf(info), true
}

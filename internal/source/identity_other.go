//go:build !linux

package source

import (
	"io/fs"
	"os"
)

// systemIdentity has no more than every system has. A change that keeps size and modification time is not seen.
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

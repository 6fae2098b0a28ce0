package source

import (
	"io/fs"
	"syscall"
)

// systemIdentity returns the change time besides the file, so that one with the size and the modification time of the
// old one, as after a ConfigMap swap or a restored backup, is another one.
func systemIdentity(info fs.FileInfo) (device, inode uint64, changed int64) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Dev, stat.Ino, stat.Ctim.Nano()
	}
	return 0, 0, info.ModTime().UnixNano()
}

package source

import (
	"io/fs"
	"syscall"
)

// systemIdentity includes the change time, so that a file with the size and modification time of the old one, as after
// a ConfigMap swap or a restored backup, is recognized as different.
func systemIdentity(info fs.FileInfo) (device, inode uint64, changed int64) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Dev, stat.Ino, stat.Ctim.Nano()
	}
	return 0, 0, info.ModTime().UnixNano()
}

// statIdentity returns the identity of a file without the allocations of os.Stat.
func statIdentity(path string) (identity, bool) {
	var stat syscall.Stat_t
	if err := syscall.Stat(path, &stat); err != nil {
		return identity{}, false
	}
	return identity{device: stat.Dev, inode: stat.Ino, size: stat.Size, modified: stat.Mtim.Nano(), changed: stat.Ctim.Nano()}, true
}

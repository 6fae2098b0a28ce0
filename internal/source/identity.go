package source

import (
	"io/fs"
	"time"
)

// identity tells a file from what it was before.
type identity struct {
	device, inode uint64
	size          int64
	modified      int64 // in nanoseconds
	changed       int64 // likewise. Where the system has it, it is a time that programs cannot set
}

func identityOf(info fs.FileInfo) identity {
	id := identity{size: info.Size(), modified: info.ModTime().UnixNano()}
	id.device, id.inode, id.changed = systemIdentity(info)
	return id
}

// age returns how long ago the file was changed.
func (id identity) age(now time.Time) time.Duration { return now.Sub(time.Unix(0, id.changed)) }

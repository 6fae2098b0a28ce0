package source

import (
	"io/fs"
	"time"
)

// identity distinguishes a file from its earlier states.
type identity struct {
	device, inode uint64
	size          int64
	modified      int64 // in nanoseconds
	changed       int64 // likewise; on Linux it is the change time, which programs cannot set
}

func identityOf(info fs.FileInfo) identity {
	id := identity{size: info.Size(), modified: info.ModTime().UnixNano()}
	id.device, id.inode, id.changed = systemIdentity(info)
	return id
}

// age returns how long ago the file was changed.
func (id identity) age(now time.Time) time.Duration { return now.Sub(time.Unix(0, id.changed)) }

package server

import (
	"bytes"
	"compress/gzip"
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// representation is a manifest as it is sent: resolved for a host, and compressed or not.
type representation struct {
	host              string
	hash              string // of the plain body
	full, notModified response
}

// key says what a representation is of.
type key struct {
	route *route
	host  string
	gzip  bool
}

// entryOverhead is counted for every entry beside its body and host: the structs, their headers and the
// slots in map and list, rounded up.
const entryOverhead = 2 << 10

// hashBytes is how much of a SHA-256 makes an ETag.
const hashBytes = 16

// cache keeps representations, as many as fit into its limit. Those that were asked for again since
// they were last considered stay longer, so that a stream of made-up hosts drives out only itself.
type cache struct {
	limit int64
	zip   compressor
	head  head // of every representation

	mu      sync.RWMutex
	entries map[key]*entry // including those still being made, which are neither in queue nor in bytes
	queue   list.List      // of *entry, the next to consider in front
	bytes   int64
}

type entry struct {
	key
	load  func() (*representation, error) // makes it once, whoever asks first
	size  int64
	again atomic.Bool // asked for since it was made or last considered
}

func newCache(limit int64, zip compressor, head head) *cache {
	return &cache{limit: limit, zip: zip, head: head, entries: make(map[key]*entry)}
}

// get returns a representation, and whether it was there before.
func (c *cache) get(k key) (rep *representation, hit bool, err error) {
	c.mu.RLock()
	e := c.entries[k]
	if e != nil && !e.again.Load() { // not stored every time: cores would fight over it
		e.again.Store(true)
	}
	c.mu.RUnlock()
	hit = e != nil
	if !hit {
		e = c.add(k)
	}
	rep, err = e.load()
	return rep, hit, err
}

func (c *cache) size() (entries int, bytes int64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.queue.Len(), c.bytes
}

func (c *cache) add(k key) *entry {
	k.host = strings.Clone(k.host) // it is a piece of a request, which must not live on
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[k]; e != nil {
		return e
	}
	e := &entry{key: k}
	e.load = sync.OnceValues(func() (rep *representation, err error) {
		defer func() { c.settle(e, rep) }()
		return c.render(k)
	})
	c.entries[k] = e
	return e
}

// settle makes room for an entry that has been made, or drops it if it failed or could never fit.
func (c *cache) settle(e *entry, rep *representation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if rep != nil {
		e.size = int64(cap(rep.full.body) + len(e.host) + entryOverhead)
	}
	if rep == nil || e.size > c.limit || e.route.retired.Load() {
		delete(c.entries, e.key)
		return
	}
	for c.bytes+e.size > c.limit {
		front := c.queue.Front()
		old := front.Value.(*entry)
		if old.again.Swap(false) {
			c.queue.MoveToBack(front)
			continue
		}
		c.remove(front)
	}
	c.queue.PushBack(e)
	c.bytes += e.size
}

// remove takes an entry out. The caller holds the lock.
func (c *cache) remove(place *list.Element) {
	e := c.queue.Remove(place).(*entry)
	delete(c.entries, e.key)
	c.bytes -= e.size
}

// drop forgets what was made of routes that are no longer published, and what is still being made of them.
func (c *cache) drop(routes []*route) {
	if len(routes) == 0 {
		return
	}
	for _, route := range routes {
		route.retired.Store(true)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for place := c.queue.Front(); place != nil; {
		next := place.Next()
		if place.Value.(*entry).route.retired.Load() {
			c.remove(place)
		}
		place = next
	}
}

func (c *cache) render(k key) (*representation, error) {
	body, err := k.route.template.Render(k.host)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	rep := &representation{host: k.host, hash: hex.EncodeToString(sum[:hashBytes])}
	tag := rep.hash
	if k.gzip {
		tag += gzipTagSuffix
		body = c.zip.compress(body)
	}
	head := c.head.with(slices.Concat([]field{newField("Etag", `"`+tag+`"`)}, k.route.fields)...)
	rep.notModified = response{status: http.StatusNotModified, head: head}
	of := []field{jsonType, lengthOf(body), gzipCoding}
	if !k.gzip {
		of = of[:2]
	}
	rep.full = response{http.StatusOK, head.with(of...), body}
	return rep, nil
}

// compressor holds as many gzip writers as there are cores. One takes a megabyte, so that many misses at
// once wait for a writer and do not get their own.
type compressor chan *gzip.Writer

func newCompressor() compressor {
	z := make(compressor, runtime.GOMAXPROCS(0))
	for range cap(z) {
		z <- gzip.NewWriter(nil)
	}
	return z
}

func (z compressor) compress(body []byte) []byte {
	writer := <-z
	defer func() { z <- writer }()
	var out bytes.Buffer
	writer.Reset(&out)
	writer.Write(body) // a Buffer takes everything
	writer.Close()
	return bytes.Clone(out.Bytes()) // without the room to grow
}

package diff

import (
	"slices"

	"signpost"
)

// pair holds the matching items of two lists; nil means the list has none.
type pair[T any] struct{ old, new *T }

// in returns the item of a state.
func (p pair[T]) in(s state) *T {
	if s == before {
		return p.old
	}
	return p.new
}

// all returns the items that there are.
func (p pair[T]) all() []T {
	var items []T
	for _, item := range []*T{p.old, p.new} {
		if item != nil {
			items = append(items, *item)
		}
	}
	return items
}

// pairUp pairs the n-th item with a given key in old with the n-th item with that key in new. Items of old come first,
// in their order, followed by those only in new. moved reports whether the common items are ordered differently.
func pairUp[T any](old, new []T, key func(*T) string) (pairs []pair[T], moved bool) {
	unpaired := make(map[string][]int, len(new)) // items of new, by key
	for i := range new {
		k := key(&new[i])
		unpaired[k] = append(unpaired[k], i)
	}
	taken := make([]bool, len(new))
	last := -1
	for i := range old {
		p := pair[T]{old: &old[i]}
		k := key(p.old)
		if at := unpaired[k]; len(at) > 0 {
			unpaired[k] = at[1:]
			p.new = &new[at[0]]
			taken[at[0]] = true
			moved = moved || at[0] < last
			last = at[0]
		}
		pairs = append(pairs, p)
	}
	for i := range new {
		if !taken[i] {
			pairs = append(pairs, pair[T]{new: &new[i]})
		}
	}
	return pairs, moved
}

// pairRest pairs a removed item with an added one if both have the same key, and no other removed or added item does.
// An empty key matches nothing.
func pairRest[T any](pairs []pair[T], key func(*T) string) []pair[T] {
	removed, added := make(map[string][]int), make(map[string][]int)
	for i, p := range pairs {
		switch {
		case p.new == nil:
			removed[key(p.old)] = append(removed[key(p.old)], i)
		case p.old == nil:
			added[key(p.new)] = append(added[key(p.new)], i)
		}
	}
	for k, at := range removed {
		if to := added[k]; k != "" && len(at) == 1 && len(to) == 1 {
			pairs[at[0]].new, pairs[to[0]].new = pairs[to[0]].new, nil
		}
	}
	return slices.DeleteFunc(pairs, func(p pair[T]) bool { return p.old == nil && p.new == nil })
}

// canonical returns a URL as it is compared with feeds: the case of its scheme and host does not matter.
func canonical(u signpost.URL) string { return u.Origin() + u.Rest() }

// keysOf returns the keys of items, in order.
func keysOf[T any](items []T, key func(*T) string) []string {
	keys := make([]string, len(items))
	for i := range items {
		keys[i] = key(&items[i])
	}
	return keys
}

package diff

import (
	"cmp"
	"fmt"
	"time"

	"signpost"
)

// lower makes the removal of a part notable if it was deprecated and its last day is over, and says so in the message.
// The deprecation of a version covers its endpoints, and that of an endpoint its modifiers. A service is deprecated if
// all of its versions are.
func (d *differ) lower(c *Change) {
	part := d.part
	switch c.Rule {
	case ChangeServiceRemoved:
		over := len(d.deprecations) > 0
		for version := range c.Old.(map[string]signpost.Manifest) {
			found := d.deprecations[signpost.Part{Version: version}]
			over = over && found != nil && found.Over(d.Today)
		}
		if over {
			c.Level = Notable
			c.Message += "; all of them were deprecated, and their last day is over"
		}
		return
	case ChangeVersionRemoved, ChangeEndpointRemoved:
	case ChangeModifierRemoved:
		part.Modifier = c.Old.(signpost.Modifier).ID
	default:
		return
	}
	var own *signpost.Deprecation
	for _, part := range []signpost.Part{part, {Version: part.Version, Endpoint: part.Endpoint}, {Version: part.Version}} {
		found := d.deprecations[part]
		if found != nil && found.Over(d.Today) {
			c.Level = Notable
			c.Message += fmt.Sprintf("; it was deprecated until %s", found.Until.Format(time.DateOnly))
			return
		}
		own = cmp.Or(own, found)
	}
	if own != nil && !own.Until.IsZero() {
		c.Message += fmt.Sprintf("; it is deprecated until %s and can be removed after that",
			own.Until.Format(time.DateOnly))
	}
}

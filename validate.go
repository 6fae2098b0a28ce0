package signpost

import (
	"encoding/json"
	"fmt"
	"math"
	"mime"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"signpost/internal/spell"
)

// Error rules for the manifest itself. Package definition adds those for the file around it.
const (
	RuleDuplicateKey         = "duplicate-key"
	RuleRequiredField        = "required-field"
	RuleWrongType            = "wrong-type"
	RuleMethod               = "method"
	RuleMIMEType             = "mime-type"
	RuleURL                  = "url"
	RuleContextType          = "context-type"
	RuleContextDuplicate     = "context-duplicate"
	RuleModifierIDDuplicate  = "modifier-id-duplicate"
	RuleModifierKeyDuplicate = "modifier-key-duplicate"
	RuleModifierKeyReserved  = "modifier-key-reserved"
	RuleModifierKey          = "modifier-key"
	RuleModifierDefault      = "modifier-default"
	RuleSelectOptions        = "select-options"
	RuleEnumMismatch         = "enum-mismatch"
	RuleResolvedURLCollision = "resolved-url-collision"
)

// reservedKey is the query parameter that carries context, so modifiers cannot use it.
const reservedKey = "ctx"

// Validate returns all errors in the manifest, in the order of its endpoints.
func (m Manifest) Validate() []Finding {
	v := validator{manifest: m}
	if err := m.Extra.check([]string{"endpoints"}); err != nil {
		v.add(RuleDuplicateKey, "", nil, "%s", err)
	}
	seen := make(map[string]bool, len(m.Endpoints))
	for _, e := range m.Endpoints {
		v.in = Path{Field(e.URL)}
		if seen[e.URL] {
			v.add(RuleDuplicateKey, "", Path{}, "endpoint %q is in the manifest twice", e.URL)
		}
		seen[e.URL] = true
		v.endpoint(e)
	}
	return v.findings
}

// Validate returns all errors in the feature. Paths start at the feature.
func (f Feature) Validate() []Finding {
	var v validator
	v.required(f.Name, "feature", "", nil, Field("name"))
	v.contextItems(f.ContextObj)
	return v.findings
}

// Validate returns all errors in the modifier itself. Paths start at the modifier.
func (m Modifier) Validate() []Finding {
	var v validator
	v.modifier(m, Path{}, make(map[string]bool))
	return v.findings
}

// validator collects findings. Its methods take paths relative to the endpoint, if there is one.
type validator struct {
	in       Path // to the endpoint
	findings []Finding
	manifest Manifest
	taken    map[string]bool // URLs of the endpoints, and of fixes; nil until a URL is to be fixed
}

func (v *validator) add(rule, hint string, path Path, format string, args ...any) *Finding {
	v.findings = append(v.findings, Finding{
		Rule: rule, Severity: SeverityError, Path: v.in.then(path...),
		Message: spell.Shorten(fmt.Sprintf(format, args...)), Hint: spell.Shorten(hint),
	})
	return &v.findings[len(v.findings)-1]
}

// required reports an empty field. The last step of its path is its name; hint describes its value.
func (v *validator) required(text, owner, hint string, path Path, steps ...step) {
	if text == "" {
		v.add(RuleRequiredField, hint, path.then(steps...), "%s has no %s", owner, steps[len(steps)-1])
	}
}

// choice describes a field that has one of several known values.
type choice struct {
	rule, what, owner string
	known             []string
	write             string   // begins the hint about a value in other letters
	extensible        bool     // other values are allowed if they begin with Beyond
	beyond            []string // some of those
}

var (
	methods = choice{rule: RuleMethod, what: "method", owner: "endpoint", known: []string{MethodGet, MethodPost},
		write: "write it in lower case: ", extensible: true}
	contextTypes = choice{rule: RuleContextType, what: "context type", owner: "context item", known: ContextTypes(),
		write: "write ", extensible: true, beyond: []string{ContextHeader, ContextBearerHeader}}
	valueTypes = choice{rule: RuleWrongType, what: "schema.type", owner: "modifier schema", known: ValueTypes(),
		write: "write "}
)

// oneOf reports a value that is missing, or not one of those known. If it differs in case only, the known one is
// certain.
func (v *validator) oneOf(value string, c choice, path Path, steps ...step) bool {
	last := len(c.known) - 1
	meant, marked := strings.CutPrefix(value, Beyond)
	switch {
	case slices.Contains(c.known, value):
		return true
	case value == "":
		v.required(value, c.owner, strings.Join(c.known[:last], ", ")+" or "+c.known[last], path, steps...)
		return false
	case c.extensible && marked && slices.Contains(c.known, meant):
		f := v.add(c.rule, "write "+meant, path.then(steps...), "%s %q needs no plus: the specification knows it",
			c.what, value)
		f.Replacement = meant
		return false
	case c.extensible && marked && meant != "" && meant == strings.TrimSpace(meant):
		return true
	}
	f := v.add(c.rule, "", path.then(steps...), `%s %q is not %s or %q`, c.what, value, spell.Quoted(c.known[:last]),
		c.known[last])
	if i := slices.IndexFunc(c.known, func(name string) bool { return strings.EqualFold(name, value) }); i >= 0 {
		f.Hint, f.Replacement = c.write+c.known[i], c.known[i]
	} else if i := strings.IndexFunc(value, func(r rune) bool { return r > '~' }); i >= 0 {
		r, _ := utf8.DecodeRuneInString(value[i:])
		f.Hint = fmt.Sprintf("%q is U+%04X, which only looks like a Latin letter, if at all", string(r), r)
	} else if slices.Contains(c.beyond, value) {
		f.Hint = fmt.Sprintf("write %s%s, if your apps know it: the specification does not", Beyond, value)
	}
	return false
}

// extra reports fields that cannot be written beside those of the object.
func (v *validator) extra(x Extra, object reflect.Type, path Path, steps ...step) {
	if x == "" {
		return
	}
	if err := x.check(layouts[object].names); err != nil {
		v.add(RuleDuplicateKey, "", path.then(steps...), "%s", err)
	}
}

func (v *validator) endpoint(e Endpoint) {
	if err := CutURL(e.URL).check(); err != nil {
		f := v.add(RuleURL, err.hint, nil, "%s", err.message)
		if fixed := repairPlaceholders(e.URL); CutURL(fixed).check() == nil && v.take(fixed) {
			f.Replacement = fixed
		}
	}
	v.required(e.Name, "endpoint", "the label that editors see in the studio", nil, Field("name"))
	v.oneOf(e.Method, methods, nil, Field("method"))
	v.mimeType(e.MIMEType)
	v.contextItems(e.ContextObj)
	v.extra(e.Extra, reflect.TypeFor[Endpoint](), nil)

	ids, keys := make(map[string]bool), make(map[string]bool)
	for i, m := range e.Modifiers {
		path := Path{Field("modifiers"), Item(i)}
		if m.ID != "" && ids[m.ID] {
			v.add(RuleModifierIDDuplicate, "the studio stores an editor's value under the id: give each its own",
				path.then(Field("id")), "modifier id %q is used twice in this endpoint", m.ID)
		}
		ids[m.ID] = true
		v.modifier(m, path, keys)
	}
}

// take reserves a URL for a fix. It returns false if an endpoint has it, or gets it by another fix.
func (v *validator) take(url string) bool {
	if v.taken == nil {
		v.taken = make(map[string]bool, len(v.manifest.Endpoints))
		for _, e := range v.manifest.Endpoints {
			v.taken[e.URL] = true
		}
	}
	free := !v.taken[url]
	v.taken[url] = true
	return free
}

// topLevelTypes are the registered top-level media types. One that begins with x- is private.
var topLevelTypes = []string{"application", "audio", "example", "font", "haptics", "image", "message", "model",
	"multipart", "text", "video"}

func (v *validator) mimeType(s string) {
	const usual = "the usual one is application/json"
	path := Path{Field("mime_type")}
	mediaType, _, err := mime.ParseMediaType(s) // in lower case
	top, _, _ := strings.Cut(mediaType, "/")
	switch {
	case s == "":
		v.required(s, "endpoint", "the content type of the response, usually application/json", nil, path...)
	case err != nil || s != strings.TrimSpace(s),
		strings.Count(mediaType, "/") != 1 || strings.Contains(mediaType, "*"):
		v.add(RuleMIMEType, usual, path, "mime_type %q is not a media type (type/subtype)", s)
	case !slices.Contains(topLevelTypes, top) && !strings.HasPrefix(top, "x-"):
		f := v.add(RuleMIMEType, usual, path, "mime_type %q begins with %q, which is not a media type", s, s[:len(top)])
		f.misspelt(top, topLevelTypes, s[len(top):])
	}
}

// misspelt suggests the name that is nearest, followed by the rest. If no other one is near, it is certain.
func (f *Finding) misspelt(name string, known []string, rest string) {
	near, certain := spell.Only(name, known)
	if near != "" {
		f.Hint = fmt.Sprintf("did you mean %q?", near+rest)
	}
	if certain {
		f.Replacement = near + rest
	}
}

func (v *validator) contextItems(items []ContextItem) {
	keys, sentAs := make(map[string]bool), make(map[string]string)
	for i, c := range items {
		path := Path{Field("context_obj"), Item(i)}
		v.required(c.Key, "context item", "the name of a built-in context key, or of one that a plugin supplies",
			path, Field("key"))
		v.oneOf(c.Type, contextTypes, path, Field("type"))
		v.extra(c.Extra, reflect.TypeFor[ContextItem](), path)
		if c.Key == "" {
			continue
		}
		if keys[c.Key] {
			v.add(RuleContextDuplicate, "", path.then(Field("key")), "context key %q is declared twice", c.Key)
			continue
		}
		keys[c.Key] = true
		name, field := c.SentAs(), Field("key")
		if c.Mapper != "" {
			field = "mapper"
		}
		if other, taken := sentAs[c.Type+" "+name]; taken {
			v.add(RuleContextDuplicate, "one value would overwrite the other: give one of them another mapper",
				path.then(field), "context keys %q and %q are both sent as %q", other, c.Key, name)
		}
		sentAs[c.Type+" "+name] = c.Key
	}
}

// modifier validates one modifier. keys holds the query parameters of the modifiers before it.
func (v *validator) modifier(m Modifier, path Path, keys map[string]bool) {
	v.required(m.ID, "modifier",
		"unique in the endpoint, and never changed: the studio stores an editor's value under it", path, Field("id"))
	v.required(m.Name, "modifier", "the name that editors see in the studio", path, Field("name"))
	if len(m.Params) == 0 {
		v.add(RuleRequiredField, "", path.then(Field("params")), "modifier has no params")
	}
	v.extra(m.Extra, reflect.TypeFor[Modifier](), path)
	for i, p := range m.Params {
		v.param(p, path.then(Field("params"), Item(i)), keys)
	}
}

func (v *validator) param(p Param, path Path, keys map[string]bool) {
	switch {
	case p.Key == "":
		v.required(p.Key, "modifier", "the name of the query parameter", path, Field("key"))
	case strings.ContainsAny(p.Key, "?&=#") || strings.ContainsFunc(p.Key, isSpace):
		v.add(RuleModifierKey, "write the name of the parameter alone, such as sort", path.then(Field("key")),
			"modifier key %q is not the name of a query parameter", p.Key)
	case p.Key == reservedKey:
		v.add(RuleModifierKeyReserved, "choose another parameter name", path.then(Field("key")),
			`modifier key "ctx" is reserved: clients send context keys in that parameter`)
	case keys[p.Key]:
		v.add(RuleModifierKeyDuplicate, "both controls would set the same parameter", path.then(Field("key")),
			"modifier key %q is used twice in this endpoint", p.Key)
	}
	keys[p.Key] = true
	v.extra(p.Extra, reflect.TypeFor[Param](), path)
	v.extra(p.UI.Extra, reflect.TypeFor[UI](), path, Field("ui"))
	v.extra(p.Schema.Extra, reflect.TypeFor[Schema](), path, Field("schema"))
	for i, o := range p.UI.Options {
		v.extra(o.Extra, reflect.TypeFor[Option](), path, Field("ui"), Field("options"), Item(i))
	}
	v.required(p.UI.Label, "modifier", "a short label for the control", path, Field("ui"), Field("label"))
	if v.oneOf(p.Schema.Type, valueTypes, path, Field("schema"), Field("type")) {
		v.options(p, path)
		v.defaultValue(p, path)
	}
}

// options checks ui.options and schema.enum, which make a dropdown. A nil slice means that the field is absent.
func (v *validator) options(p Param, path Path) {
	if p.UI.Options == nil && p.Schema.Enum == nil {
		return
	}
	if p.Schema.Type != TypeString {
		where := path.then(Field("ui"), Field("options"))
		if p.UI.Options == nil {
			where = path.then(Field("schema"), Field("enum"))
		}
		v.add(RuleSelectOptions, "only select modifiers, whose values are strings, have options", where,
			"a %s modifier has options", p.Schema.Type)
		return
	}
	if len(p.UI.Options) == 0 && (p.UI.Options != nil || len(p.Schema.Enum) == 0) {
		v.add(RuleSelectOptions, "list each value with its label", path.then(Field("ui"), Field("options")),
			"a select has no options")
		return
	}
	seen := make(map[string]bool, len(p.UI.Options)+len(p.Schema.Enum))
	value := func(value string, steps ...step) {
		switch {
		case value == "":
			v.add(RuleSelectOptions, "an empty value looks like no choice at all", path.then(steps...),
				"an option has an empty value")
		case seen[value]:
			v.add(RuleSelectOptions, "", path.then(steps...), "option value %q is duplicated", value)
		}
		seen[value] = true
	}
	for i, o := range p.UI.Options {
		value(o.Value, Field("ui"), Field("options"), Item(i), Field("value"))
		v.required(o.Label, "option", "what editors see in the dropdown", path,
			Field("ui"), Field("options"), Item(i), Field("label"))
	}
	for i, e := range p.Schema.Enum {
		if p.UI.Options == nil {
			value(e, Field("schema"), Field("enum"), Item(i))
		}
	}
	values := optionValues(p)
	if p.UI.Options != nil && p.Schema.Enum != nil && !sameSet(p.Schema.Enum, values) {
		v.add(RuleEnumMismatch, "make it "+spell.Quoted(values), path.then(Field("schema"), Field("enum")),
			"schema.enum is not the values of ui.options: %s", spell.Quoted(p.Schema.Enum))
	}
}

// defaultValue checks schema.default against the type and the options.
func (v *validator) defaultValue(p Param, path Path) {
	d := p.Schema.Default
	if d == nil {
		return
	}
	if typeOf(d) != p.Schema.Type {
		hint := map[string]string{
			TypeString:  "put it in quotes",
			TypeNumber:  "write a number, without quotes",
			TypeBoolean: "write true or false, without quotes",
		}[p.Schema.Type]
		f := v.add(RuleModifierDefault, hint, path.then(Field("schema"), Field("default")),
			"default %s is not a %s", literal(d), p.Schema.Type)
		f.Replacement = converted(d, p.Schema.Type)
		return
	}
	if p.Schema.Type != TypeString {
		return
	}
	allowed := optionValues(p)
	if len(allowed) == 0 {
		allowed = p.Schema.Enum
	}
	if text := fmt.Sprint(d); len(allowed) > 0 && !slices.Contains(allowed, text) {
		f := v.add(RuleModifierDefault, "", path.then(Field("schema"), Field("default")),
			"default %q is not one of the options: %s", text, spell.Quoted(allowed))
		f.misspelt(text, allowed, "")
	}
}

// converted returns a default converted to the given type, or nil if that would change its meaning.
func converted(d any, schemaType string) any {
	text := fmt.Sprint(d)
	switch {
	case schemaType == TypeString && typeOf(d) != "":
		return text
	case schemaType == TypeNumber && typeOf(json.Number(text)) == TypeNumber:
		return json.Number(text)
	case schemaType == TypeBoolean && (text == "true" || text == "false"):
		return text == "true"
	}
	return nil
}

// typeOf returns the schema type of a default, or "" if it has none.
func typeOf(d any) string {
	if n, ok := d.(json.Number); ok {
		if f, err := n.Float64(); err == nil && !math.IsInf(f, 0) && json.Valid([]byte(n)) {
			return TypeNumber
		}
		return ""
	}
	switch v := reflect.ValueOf(d); {
	case v.Kind() == reflect.String:
		return TypeString
	case v.Kind() == reflect.Bool:
		return TypeBoolean
	case v.CanInt(), v.CanUint(), v.CanFloat() && !math.IsNaN(v.Float()) && !math.IsInf(v.Float(), 0):
		return TypeNumber
	}
	return ""
}

// literal formats a default as it would be written in a definition.
func literal(d any) string {
	if s, ok := d.(string); ok {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprint(d)
}

func optionValues(p Param) []string {
	values := make([]string, len(p.UI.Options))
	for i, o := range p.UI.Options {
		values[i] = o.Value
	}
	return values
}

func sameSet(a, b []string) bool {
	return slices.Equal(a, b) || slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

package signpost

import (
	"encoding/json"
	"fmt"
	"math"
	"mime"
	"reflect"
	"slices"
	"strings"

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
)

// reservedKey is the query parameter that carries context, so modifiers cannot use it.
const reservedKey = "ctx"

// Validate returns all errors in the manifest, in the order of its endpoints.
func (m Manifest) Validate() []Finding {
	v := validator{severity: SeverityError, endpoints: m.Endpoints}
	seen := make(map[string]bool, len(m.Endpoints))
	for i, e := range m.Endpoints {
		v.in = &m.Endpoints[i].URL
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
	v := validator{severity: SeverityError}
	v.required(f.Name, "feature", nil, Field("name"))
	v.contextItems(f.ContextObj)
	return v.findings
}

// Validate returns all errors in the modifier itself. Paths start at the modifier.
func (m Modifier) Validate() []Finding {
	v := validator{severity: SeverityError}
	v.modifier(m, Path{}, make(map[string]bool))
	return v.findings
}

// validator collects findings. Its methods take paths relative to the endpoint, if there is one.
type validator struct {
	severity  Severity
	in        *string // URL of the endpoint
	findings  []Finding
	endpoints []Endpoint      // of the manifest
	urls      map[string]bool // of the endpoints, and of fixes; nil until needed
}

func (v *validator) add(rule, hint string, path Path, format string, args ...any) {
	var base Path
	if v.in != nil {
		base = Path{Field(*v.in)}
	}
	v.findings = append(v.findings, Finding{
		Rule: rule, Severity: v.severity, Message: fmt.Sprintf(format, args...), Hint: hint,
		Path: base.then(path...),
	})
}

// replace sets the value that certainly fixes the last finding.
func (v *validator) replace(value any) { v.findings[len(v.findings)-1].Replacement = value }

// replaceURL sets the URL that certainly fixes the last finding, unless it is invalid too or another endpoint has it.
func (v *validator) replaceURL(fixed string) {
	if CutURL(fixed).check() != nil {
		return
	}
	if v.urls == nil {
		v.urls = make(map[string]bool, len(v.endpoints))
		for _, e := range v.endpoints {
			v.urls[e.URL] = true
		}
	}
	if !v.urls[fixed] {
		v.urls[fixed] = true
		v.replace(fixed)
	}
}

// required reports an empty field. The last step of the path is its name.
func (v *validator) required(text, owner string, path Path, more ...step) {
	if text == "" {
		path = path.then(more...)
		field := path[len(path)-1].(Field)
		v.add(RuleRequiredField, requiredHints[owner+" "+string(field)], path, "%s has no %s", owner, field)
	}
}

// requiredHints describes the value of a missing field.
var requiredHints = map[string]string{
	"endpoint name":        "the label that editors see in the studio",
	"endpoint method":      "get or post",
	"endpoint mime_type":   "the content type of the response, usually application/json",
	"context item key":     "the name of a built-in context key, or of one that a plugin supplies",
	"context item type":    "ctx or bodyParam",
	"modifier id":          "unique in the endpoint, and never changed: the studio stores an editor's value under it",
	"modifier name":        "the name that editors see in the studio",
	"modifier key":         "the name of the query parameter",
	"modifier label":       "a short label for the control",
	"modifier schema type": "string, number or boolean",
	"option label":         "what editors see in the dropdown",
}

func (v *validator) endpoint(e Endpoint) {
	if err := CutURL(e.URL).check(); err != nil {
		v.add(RuleURL, err.hint, nil, "%s", err.message)
		if strings.Contains(e.URL, "{") {
			v.replaceURL(repairPlaceholders(e.URL))
		}
	}
	v.required(e.Name, "endpoint", nil, Field("name"))
	switch lower := strings.ToLower(e.Method); {
	case e.Method == "":
		v.required(e.Method, "endpoint", nil, Field("method"))
	case e.Method == MethodGet || e.Method == MethodPost:
	case lower == MethodGet || lower == MethodPost:
		v.add(RuleMethod, "write it in lower case: "+lower, Path{Field("method")}, `method %q is not "get" or "post"`, e.Method)
		v.replace(lower)
	default:
		v.add(RuleMethod, "", Path{Field("method")}, `method %q is not "get" or "post"`, e.Method)
	}
	switch {
	case e.MIMEType == "":
		v.required(e.MIMEType, "endpoint", nil, Field("mime_type"))
	case !validMIMEType(e.MIMEType):
		v.add(RuleMIMEType, "the usual one is application/json", Path{Field("mime_type")},
			"mime_type %q is not a media type (type/subtype)", e.MIMEType)
	default:
		v.topLevelType(e.MIMEType)
	}
	v.contextItems(e.ContextObj)

	if len(e.Modifiers) == 0 {
		return
	}
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

func validMIMEType(s string) bool {
	if s == MIMEJSON { // nearly always
		return true
	}
	mediaType, _, err := mime.ParseMediaType(s)
	return err == nil && strings.Count(mediaType, "/") == 1 && !strings.Contains(mediaType, "*") && s == strings.TrimSpace(s)
}

// topLevelTypes are the registered top-level media types. One that begins with x- is private.
var topLevelTypes = []string{"application", "audio", "example", "font", "haptics", "image", "message", "model", "multipart", "text", "video"}

// topLevelType reports a valid media type whose top-level type does not exist.
func (v *validator) topLevelType(mimeType string) {
	top, rest, _ := strings.Cut(mimeType, "/")
	if lower := strings.ToLower(top); slices.Contains(topLevelTypes, lower) || strings.HasPrefix(lower, "x-") {
		return
	}
	hint := "the usual one is application/json"
	near, certain := spell.Only(strings.ToLower(top), topLevelTypes)
	if near != "" {
		hint = fmt.Sprintf("did you mean %q?", near+"/"+rest)
	}
	v.add(RuleMIMEType, hint, Path{Field("mime_type")}, "mime_type %q begins with %q, which is not a media type", mimeType, top)
	if certain {
		v.replace(near + "/" + rest)
	}
}

func (v *validator) contextItems(items []ContextItem) {
	if len(items) == 0 {
		return
	}
	keys, sentAs := make(map[string]bool), make(map[string]string)
	for i, c := range items {
		path := Path{Field("context_obj"), Item(i)}
		v.required(c.Key, "context item", path, Field("key"))
		switch types := ContextTypes(); {
		case slices.Contains(types, c.Type):
		case c.Type == "":
			v.required(c.Type, "context item", path, Field("type"))
		default:
			v.add(RuleContextType, "", path.then(Field("type")), `context type %q is not "%s"`, c.Type, strings.Join(types, `" or "`))
			for _, known := range types {
				if strings.EqualFold(c.Type, known) {
					v.findings[len(v.findings)-1].Hint = "write " + known
					v.replace(known)
				}
			}
		}
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
	v.required(m.ID, "modifier", path, Field("id"))
	v.required(m.Name, "modifier", path, Field("name"))
	if len(m.Params) == 0 {
		v.add(RuleRequiredField, "", path.then(Field("params")), "modifier has no params")
	}
	for i, p := range m.Params {
		// Most params have no mistake, so paths are built when they are needed.
		v.param(p, func(more ...step) Path { return path.then(Field("params"), Item(i)).then(more...) }, keys)
	}
}

// param validates one param. at returns the path of a part of it.
func (v *validator) param(p Param, at func(...step) Path, keys map[string]bool) {
	switch {
	case p.Key == "":
		v.required(p.Key, "modifier", at(), Field("key"))
	case strings.ContainsAny(p.Key, "?&=#") || strings.ContainsFunc(p.Key, isSpace):
		name := strings.TrimFunc(p.Key, func(r rune) bool { return isSpace(r) || strings.ContainsRune("?&=#", r) })
		hint := "write the name of the parameter alone, such as sort"
		if name != "" && !strings.ContainsAny(name, "?&=#") && !strings.ContainsFunc(name, isSpace) {
			hint = "write the name of the parameter alone: " + name
		}
		v.add(RuleModifierKey, hint, at(Field("key")), "modifier key %q is not the name of a query parameter", p.Key)
	case p.Key == reservedKey:
		v.add(RuleModifierKeyReserved, "choose another parameter name", at(Field("key")),
			`modifier key "ctx" is reserved: clients send context keys in that parameter`)
	case keys[p.Key]:
		v.add(RuleModifierKeyDuplicate, "both controls would set the same parameter", at(Field("key")),
			"modifier key %q is used twice in this endpoint", p.Key)
	}
	keys[p.Key] = true
	if p.UI.Label == "" {
		v.required(p.UI.Label, "modifier", at(Field("ui")), Field("label"))
	}

	switch p.Schema.Type {
	case TypeString, TypeNumber, TypeBoolean:
	case "":
		v.required(p.Schema.Type, "modifier schema", at(Field("schema")), Field("type"))
		return
	default:
		v.add(RuleWrongType, "", at(Field("schema"), Field("type")), `schema.type %q is not "string", "number" or "boolean"`, p.Schema.Type)
		return
	}
	v.options(p, at)
	v.defaultValue(p, at)
}

// options checks ui.options and schema.enum, which make a dropdown. A nil slice means that the field is absent.
func (v *validator) options(p Param, at func(...step) Path) {
	if p.UI.Options == nil && p.Schema.Enum == nil {
		return
	}
	optionsPath := func(more ...step) Path { return at(Field("ui"), Field("options")).then(more...) }
	enumPath := func(more ...step) Path { return at(Field("schema"), Field("enum")).then(more...) }
	if p.Schema.Type != TypeString {
		where := optionsPath()
		if p.UI.Options == nil {
			where = enumPath()
		}
		v.add(RuleSelectOptions, "only select modifiers, whose values are strings, have options", where,
			"a %s modifier has options", p.Schema.Type)
		return
	}
	if len(p.UI.Options) == 0 && (p.UI.Options != nil || len(p.Schema.Enum) == 0) {
		v.add(RuleSelectOptions, "list each value with its label", optionsPath(), "a select has no options")
		return
	}
	seen := make(map[string]bool, len(p.UI.Options)+len(p.Schema.Enum))
	value := func(value string, path func(...step) Path, more ...step) {
		switch {
		case value == "":
			v.add(RuleSelectOptions, "an empty value looks like no choice at all", path(more...), "an option has an empty value")
		case seen[value]:
			v.add(RuleSelectOptions, "", path(more...), "option value %q is duplicated", value)
		}
		seen[value] = true
	}
	for i, o := range p.UI.Options {
		value(o.Value, optionsPath, Item(i), Field("value"))
		if o.Label == "" {
			v.required(o.Label, "option", optionsPath(Item(i)), Field("label"))
		}
	}
	for i, e := range p.Schema.Enum {
		if p.UI.Options == nil {
			value(e, enumPath, Item(i))
		}
	}
	if p.UI.Options != nil && p.Schema.Enum != nil && !sameSet(p.Schema.Enum, optionValues(p)) {
		v.add(RuleEnumMismatch, "make it "+quotedList(optionValues(p)), enumPath(),
			"schema.enum is not the values of ui.options: %s", quotedList(p.Schema.Enum))
	}
}

// defaultValue checks schema.default against the type and the options.
func (v *validator) defaultValue(p Param, at func(...step) Path) {
	d := p.Schema.Default
	if d == nil {
		return
	}
	path := func() Path { return at(Field("schema"), Field("default")) }
	if typeOf(d) != p.Schema.Type {
		hint := map[string]string{
			TypeString:  "put it in quotes",
			TypeNumber:  "write a number, without quotes",
			TypeBoolean: "write true or false, without quotes",
		}[p.Schema.Type]
		v.add(RuleModifierDefault, hint, path(), "default %s is not a %s", literal(d), p.Schema.Type)
		v.replace(converted(d, p.Schema.Type))
		return
	}
	allowed := optionValues(p)
	if len(allowed) == 0 {
		allowed = p.Schema.Enum
	}
	if text := fmt.Sprint(d); p.Schema.Type == TypeString && len(allowed) > 0 && !slices.Contains(allowed, text) {
		hint := ""
		if near := spell.Nearest(text, allowed); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		v.add(RuleModifierDefault, hint, path(), "default %q is not one of the options: %s", text, quotedList(allowed))
		if near, ok := spell.Only(text, allowed); ok {
			v.replace(near)
		}
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

func quotedList(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = fmt.Sprintf("%q", v)
	}
	return strings.Join(quoted, ", ")
}

package signpost

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// The objects of a manifest are encoded by their struct tags, as encoding/json does it, except that extra fields are
// kept and follow the others, names must match exactly, lists are never null, and &, < and > are not escaped.

// layout says how a struct is written.
type layout struct {
	members []member
	names   []string // of the members
	extra   int      // index of the field Extra
}

// member is a field of an object in JSON.
type member struct {
	name      string
	index     int // in the struct
	omitEmpty bool
}

// layouts has the objects of a manifest. To look them up makes Compile twice as fast as to read the struct tags again.
var layouts = layoutsOf(Endpoint{}, ContextItem{}, Modifier{}, Param{}, UI{}, Option{}, Schema{})

func layoutsOf(objects ...any) map[reflect.Type]layout {
	all := make(map[reflect.Type]layout)
	for _, object := range objects {
		t := reflect.TypeOf(object)
		var l layout
		for i := range t.NumField() {
			if t.Field(i).Name == "Extra" {
				l.extra = i
			}
			if name, option, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "-" {
				l.members = append(l.members, member{name, i, option == "omitempty"})
				l.names = append(l.names, name)
			}
		}
		all[t] = l
	}
	return all
}

// writer encodes values on one line.
type writer struct {
	out *bytes.Buffer
	enc *json.Encoder
}

func newWriter() writer {
	out := new(bytes.Buffer)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false) // these are common in URLs and labels
	return writer{out, enc}
}

// marshal encodes an object of the manifest.
func marshal(object any) ([]byte, error) {
	w := newWriter()
	err := w.value(reflect.ValueOf(object))
	return w.out.Bytes(), err
}

// name writes the name of the member with an index.
func (w writer) name(i int, name string) {
	if i > 0 {
		w.out.WriteByte(',')
	}
	w.text(name)
	w.out.WriteByte(':')
}

// text writes a string. Most of them have nothing to escape, which makes this a quarter of the time that the Encoder
// takes.
func (w writer) text(s string) {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r > '~' }) {
		_ = w.scalar(s) // strings always encode
		return
	}
	w.out.WriteByte('"')
	w.out.WriteString(s)
	w.out.WriteByte('"')
}

func (w writer) scalar(value any) error {
	err := w.enc.Encode(value)
	if err == nil {
		w.out.Truncate(w.out.Len() - len("\n"))
	}
	return err
}

// raw writes a value without white space.
func (w writer) raw(value json.RawMessage) {
	if json.Compact(w.out, value) != nil {
		w.out.Write(value) // whoever writes the document checks it
	}
}

// extra writes fields after those that are known.
func (w writer) extra(fields Extra, known []string) error {
	if fields == "" {
		return nil
	}
	w.out.WriteString("," + string(fields))
	return fields.check(known)
}

func (w writer) value(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Struct:
		return w.object(v)
	case reflect.String:
		w.text(v.String())
		return nil
	case reflect.Slice:
		w.out.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				w.out.WriteByte(',')
			}
			if err := w.value(v.Index(i)); err != nil {
				return err
			}
		}
		w.out.WriteByte(']')
		return nil
	}
	return w.scalar(v.Interface())
}

func (w writer) object(v reflect.Value) error {
	l := layouts[v.Type()]
	w.out.WriteByte('{')
	written := 0
	for _, m := range l.members {
		field := v.Field(m.index)
		isEmpty := field.IsZero() || field.Kind() == reflect.Slice && field.Len() == 0
		if m.omitEmpty && isEmpty {
			continue
		}
		w.name(written, m.name)
		if err := w.value(field); err != nil {
			return err
		}
		written++
	}
	err := w.extra(Extra(v.Field(l.extra).String()), l.names)
	w.out.WriteByte('}')
	return err
}

// reader decodes values from JSON, and keeps the notation of numbers.
type reader struct{ dec *json.Decoder }

func newReader(data []byte) reader {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return reader{dec}
}

// unmarshal decodes an object of the manifest.
func unmarshal(data []byte, object any) error {
	return newReader(data).value(reflect.ValueOf(object).Elem())
}

// errStop makes members stop early.
var errStop = errors.New("stop")

// begin reads the beginning of an object or a list, and reports whether there is one: null is none.
func (r reader) begin(delim json.Delim, kind string) (bool, error) {
	token, err := r.dec.Token()
	if err != nil || token == nil {
		return false, err
	}
	if token != delim {
		return false, fmt.Errorf("must be %s", kind)
	}
	return true, nil
}

// members reads an object, and calls each for every member with its name. It must read the value.
func (r reader) members(each func(name string) error) error {
	ok, err := r.begin('{', "an object")
	for ok && err == nil && r.dec.More() {
		name, _ := r.dec.Token()
		text, _ := name.(string) // it is one, unless the text is not JSON
		err = each(text)
	}
	if ok && err == nil {
		_, err = r.dec.Token()
	}
	return err
}

func (r reader) raw() (value json.RawMessage, err error) {
	err = r.dec.Decode(&value)
	return value, err
}

func (r reader) value(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Struct:
		return r.object(v)
	case reflect.Slice:
		return r.list(v)
	}
	err := r.dec.Decode(v.Addr().Interface())
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("must be a %s, not a %s", wrong.Type, wrong.Value)
	}
	return err
}

func (r reader) list(v reflect.Value) error {
	ok, err := r.begin('[', "an array")
	if ok {
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	}
	for i := 0; ok && err == nil && r.dec.More(); i++ {
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		err = r.value(v.Index(i))
		if err != nil {
			err = fmt.Errorf("[%d]: %w", i, err)
		}
	}
	if ok && err == nil {
		_, err = r.dec.Token()
	}
	return err
}

// object decodes the members that the struct has fields for. The others become its extra fields.
func (r reader) object(v reflect.Value) error {
	l := layouts[v.Type()]
	var extra extraFields
	err := r.members(func(name string) error {
		for _, m := range l.members {
			if m.name != name {
				continue
			}
			field := v.Field(m.index)
			field.SetZero() // the last of several counts
			if err := r.value(field); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		}
		value, err := r.raw()
		extra.set(name, value)
		return err
	})
	v.Field(l.extra).SetString(string(extra.text()))
	return err
}

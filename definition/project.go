package definition

import (
	"slices"

	"signpost"
	"signpost/internal/fields"
	"signpost/internal/tree"
)

// ProjectName is the name of a project file.
const ProjectName = ".signpost.yaml"

// Project is a project file: what is registered together, and what applies to all of it.
type Project struct {
	Definitions []string       // files, directories or patterns, relative to the file
	Registered  []string       // what else the studio has, likewise, or addresses
	Hosts       signpost.Hosts // of definitions that declare none

	// ContextKeys are the keys that the apps have, with descriptions; nil means that every key is accepted.
	ContextKeys map[string]string

	file *File // with the findings
}

// ParseProject parses a project file. Like a definition, it never fails: [Project.File] has the findings.
func ParseProject(name string, text []byte) *Project {
	d := newDecoder(&File{Name: name}, text, Options{KeepTree: true})
	p := &Project{file: d.File}
	d.allowEmpty() // all fields are optional
	if root := d.doc.Root; root != nil {
		d.check(root, fields.Project, fields.Project.What)
		d.readHosts(root.Get("hosts"))
		p.Hosts = d.Hosts
		p.Definitions, p.Registered = d.texts(root.Get("definitions")), d.texts(root.Get("registered"))
		if catalogue := root.Get("context_keys"); catalogue.Kind == tree.Object {
			p.ContextKeys = contextKeys(catalogue)
		}
	}
	d.finish()
	return p
}

// File returns the project file as a file without endpoints, for [Lint].
func (p *Project) File() *File { return p.file }

// Errors returns the errors of the project file. What it says is used only if there are none.
func (p *Project) Errors() []signpost.Finding { return slices.Clone(p.file.findings) }

// texts returns the items of a list, as far as they can be read. An empty one would stand for the whole directory.
func (d *decoder) texts(list *tree.Node) []string {
	var all []string
	for _, item := range list.Items {
		switch {
		case item.Kind != tree.String || d.broken[item]:
		case item.Text == "":
			d.add(signpost.RuleRequiredField, "name a file, a directory or an address", item, "the entry is empty")
		default:
			all = append(all, item.Text)
		}
	}
	return all
}

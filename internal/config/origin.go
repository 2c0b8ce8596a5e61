package config

import (
	"fmt"
	"strconv"

	"github.com/countersign/countersign/internal/cli"
	"github.com/spf13/pflag"
)

// Origin is where the value of a setting comes from. The zero Origin is the default.
type Origin struct {
	// Flag is the flag that was given.
	Flag string
	// Variable is the variable, also with _FILE.
	Variable string
	// File and Line are the place in the configuration file.
	File string
	Line int
}

// Kind returns flag, variable, file or default.
func (o Origin) Kind() string {
	switch {
	case o.Flag != "":
		return "flag"
	case o.Variable != "":
		return "variable"
	case o.File != "":
		return "file"
	}
	return "default"
}

// String returns the origin for people.
func (o Origin) String() string {
	switch o.Kind() {
	case "flag":
		return "--" + o.Flag
	case "variable":
		return o.Variable
	case "file":
		return fmt.Sprintf("%s:%d", cli.Safe(o.File), o.Line)
	}
	return "default"
}

// originNote is the annotation of a flag that was set from elsewhere. It has the members of an Origin.
const originNote = "countersign-origin"

func (o Origin) note(s Setting) {
	if s.Flag.Annotations == nil {
		s.Flag.Annotations = map[string][]string{}
	}
	s.Flag.Annotations[originNote] = []string{o.Variable, o.File, strconv.Itoa(o.Line), s.Key}
}

// OriginOf returns where the value of a flag comes from.
func OriginOf(f *pflag.Flag) Origin {
	note := f.Annotations[originNote]
	switch {
	case f.Changed:
		return Origin{Flag: f.Name}
	case note == nil:
		return Origin{}
	}
	line, _ := strconv.Atoi(note[2])
	return Origin{Variable: note[0], File: note[1], Line: line}
}

// Label names a setting where its value comes from, for messages on that value: --listen, its
// variable, or the line of a file with its key.
func Label(f *pflag.Flag) string {
	if note := f.Annotations[originNote]; note != nil && !f.Changed {
		return OriginOf(f).label(note[3])
	}
	return "--" + f.Name
}

func (o Origin) label(key string) string {
	if o.File != "" {
		return o.String() + ": " + key
	}
	return o.String()
}

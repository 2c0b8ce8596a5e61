// Package docs holds the manuals for the people who run Countersign, so that a server
// can show the ones that belong to its own build.
package docs

import (
	"bytes"
	"embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

//go:embed store.md operations.md configuration.md addon.md addon-reference.md iap.md license.md license-reference.md postgres.md performance.md
var files embed.FS

// names lists the manuals in the order of the table of contents.
var names = []string{"store", "operations", "configuration", "addon", "addon-reference", "iap", "license", "license-reference", "postgres", "performance"}

// Manual is one of the manuals, rendered.
type Manual struct {
	// Name is its place in a URL, like "store".
	Name string
	// Title is its first heading.
	Title string
	// Summary is the text of its first paragraph.
	Summary string
	// HTML is what follows the first heading, without scripts and inline styles.
	HTML string
	// Sections are its headings of the second level, in order.
	Sections []Section
}

// Section is a heading that a URL can end with.
type Section struct{ ID, Title string }

// Render renders all manuals. Links between them are URLs in a folder, like "/docs". It
// fails only for a build whose manuals are broken.
func Render(folder string) ([]Manual, error) {
	markdown := goldmark.New(
		goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(links{folder}, 100))),
	)
	list := make([]Manual, 0, len(names))
	for _, name := range names {
		source, err := files.ReadFile(name + ".md")
		if err != nil {
			return nil, fmt.Errorf("manual %s: %w", name, err)
		}
		m, err := render(markdown, name, source)
		if err != nil {
			return nil, fmt.Errorf("manual %s: %w", name, err)
		}
		list = append(list, m)
	}
	return list, nil
}

func render(markdown goldmark.Markdown, name string, source []byte) (Manual, error) {
	document := markdown.Parser().Parse(text.NewReader(source))
	m := Manual{Name: name}
	for node := document.FirstChild(); node != nil; {
		next := node.NextSibling()
		switch n := node.(type) {
		case *ast.Heading:
			switch {
			case n.Level == 1 && m.Title == "":
				m.Title = plain(n, source)
				document.RemoveChild(document, n)
			case n.Level == 2:
				id, _ := n.AttributeString("id")
				m.Sections = append(m.Sections, Section{ID: string(id.([]byte)), Title: plain(n, source)})
			}
		case *ast.Paragraph:
			if m.Summary == "" {
				m.Summary = plain(n, source)
			}
		}
		node = next
	}
	var out bytes.Buffer
	if err := markdown.Renderer().Render(&out, source, document); err != nil {
		return Manual{}, err
	}
	m.HTML = flagCode.ReplaceAllString(scrollable.Replace(out.String()), `<code class="whitespace-nowrap">$1</code>`)
	return m, nil
}

// flagCode finds the name of a flag, which a line must not break after its hyphens.
var flagCode = regexp.MustCompile(`<code>(--[a-z-]+)</code>`)

// scrollable makes what may be wider than a phone scroll by itself, by keyboard too.
var scrollable = strings.NewReplacer(
	"<pre>", `<pre tabindex="0">`,
	"<table>", `<div class="prose-scroll" role="group" aria-label="Table" tabindex="0"><table>`, "</table>", "</table></div>",
)

// plain returns the text of a node without its marks.
func plain(node ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, is := n.(*ast.Text); is && entering {
			b.Write(t.Value(source))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// links makes links between the manuals' files into links between their URLs, and
// unwraps those to files that only the source code has.
type links struct{ folder string }

func (l links) Transform(document *ast.Document, _ text.Reader, _ parser.Context) {
	var outside []*ast.Link
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		link, is := n.(*ast.Link)
		if !is || !entering {
			return ast.WalkContinue, nil
		}
		if target, own := l.target(string(link.Destination)); own {
			link.Destination = []byte(target)
		} else {
			outside = append(outside, link)
		}
		return ast.WalkContinue, nil
	})
	for _, link := range outside {
		parent := link.Parent()
		for child := link.FirstChild(); child != nil; child = link.FirstChild() {
			parent.InsertBefore(parent, link, child)
		}
		parent.RemoveChild(parent, link)
	}
}

// target returns the URL of a link's destination, if a reader of the pages has it.
func (l links) target(destination string) (url string, own bool) {
	if strings.HasPrefix(destination, "#") || strings.Contains(destination, "://") {
		return destination, true
	}
	file, fragment, has := strings.Cut(destination, "#")
	name, is := strings.CutSuffix(file, ".md")
	for _, n := range names {
		if is && n == name {
			if has {
				name += "#" + fragment
			}
			return l.folder + "/" + name, true
		}
	}
	return "", false
}

package frame

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
)

//go:embed assets
var assetFiles embed.FS

// asset is a file in the forms in which it is sent.
type asset struct {
	plain, gzip []byte // gzip is nil where it saves nothing
	mediaType   string
}

// assets are the files that pages refer to. Their folder is named after what is
// in them, so that browsers may keep them for ever.
type assets struct {
	folder string // "/admincp/assets/3f9c…"
	files  map[string]asset
}

// embedded are the assets in a folder without a parent. Compressing them takes longer than anything
// else that a start does, so both services of a process share them.
var embedded = sync.OnceValues(func() (assets, error) {
	files, sum := map[string]asset{}, sha256.New()
	err := fs.WalkDir(assetFiles, "assets", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := assetFiles.ReadFile(name)
		if err != nil {
			return err
		}
		io.WriteString(sum, name)
		sum.Write(content)
		files[path.Base(name)] = asset{plain: content, gzip: smaller(content), mediaType: mediaType(name)}
		return nil
	})
	return assets{folder: hex.EncodeToString(sum.Sum(nil)[:8]), files: files}, err
})

func loadAssets(parent string) (*assets, error) {
	a, err := embedded()
	a.folder = parent + "/" + a.folder
	return &a, err
}

// mediaType does not ask the machine, whose table may lack fonts.
func mediaType(name string) string {
	if strings.HasSuffix(name, ".woff2") {
		return "font/woff2"
	}
	return mime.TypeByExtension(path.Ext(name))
}

// smaller compresses content, nil when that saves nothing.
func smaller(content []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // fails for an unknown level alone
	_, _ = z.Write(content)                               // a buffer takes everything
	_ = z.Close()
	if b.Len() >= len(content) {
		return nil
	}
	return b.Bytes()
}

// serve answers a request for a file. An earlier build's folder is not found,
// because its content is not ours to give.
func (a *assets) serve(w http.ResponseWriter, r *http.Request) error {
	file, ok := a.files[r.PathValue("file")]
	if !ok || !strings.HasSuffix(a.folder, "/"+r.PathValue("hash")) {
		return fault.NotFound(countersign.CodeNotFound, "No such file. The program may have been updated: load the page again.")
	}
	h := w.Header()
	h.Set("Content-Type", file.mediaType)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	body := file.plain
	if file.gzip != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = file.gzip
	}
	_, _ = w.Write(body) // a client that has left is nobody to tell
	return nil
}

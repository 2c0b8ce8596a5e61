package validation

import (
	"testing"

	"github.com/countersign/countersign/internal/expect"
)

func TestAddressesAreMadeWhole(t *testing.T) {
	cases := []struct{ name, body, want string }{
		{"both", `{"media":{"thumbnail":"","preview_image":"","preview_video":""}}`,
			`{"media":{"thumbnail":"http://s/media/default/thumbnail.png","preview_image":"http://s/media/default/preview.png","preview_video":""}}`},
		{"the preview image", `{"media":{"thumbnail":"t","preview_image":""}}`, `{"media":{"thumbnail":"t","preview_image":"http://s/media/default/preview.png"}}`},
		{"the thumbnail of a sound", `{"media":{"thumbnail":"","preview_audio":""}}`, `{"media":{"thumbnail":"http://s/media/default/thumbnail.png","preview_audio":""}}`},
		{"none", `{"media":{"thumbnail":"t","preview_image":"p"}}`, `{"media":{"thumbnail":"t","preview_image":"p"}}`},
		{"none, but a text looks like it", `{"name":"\"preview_image\":\"\"","media":{"thumbnail":"t","preview_image":"p"}}`,
			`{"name":"\"preview_image\":\"\"","media":{"thumbnail":"t","preview_image":"p"}}`},
		{"none, but uploaded files have no address of a store", `{"media":{"thumbnail":"/media/t.png","preview_image":"/media/i.png","preview_video":"/media/v.mp4"}}`,
			`{"media":{"thumbnail":"http://s/media/t.png","preview_image":"http://s/media/i.png","preview_video":"http://s/media/v.mp4"}}`},
		{"the thumbnail, and the sound was uploaded", `{"media":{"thumbnail":"","preview_audio":"/media/a.mp3"}}`,
			`{"media":{"thumbnail":"http://s/media/default/thumbnail.png","preview_audio":"http://s/media/a.mp3"}}`},
		{"none, and a film is elsewhere", `{"media":{"thumbnail":"t","preview_image":"p","preview_video":"https://v"}}`, `{"media":{"thumbnail":"t","preview_image":"p","preview_video":"https://v"}}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			i := newItemText(c.body)
			expect.Equal(t, i.With("http://s"), c.want)
			if i.Complete() != (c.body == c.want) || i.Text() != c.body {
				t.Errorf("complete %t, text %s", i.Complete(), i.Text())
			}
		})
	}
}

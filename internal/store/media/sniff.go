package media

import (
	"bytes"
	"encoding/binary"

	"github.com/countersign/countersign/internal/fault"
)

// headLength is how much of a file decides what it is, in bytes.
const headLength = 512

// format is what a file was recognized as.
type format struct {
	mediaType string
	// end of its name in the bucket and in addresses.
	end string
}

// signature recognizes a format by the first bytes of a file.
type signature struct {
	format
	is func(head []byte) bool
}

// The formats that slots take. The name of a file and the type that its sender names are ignored.
var formats = map[Kind][]signature{
	KindPicture: {
		{format{"image/png", ".png"}, starts("\x89PNG\r\n\x1a\n")},
		{format{"image/jpeg", ".jpg"}, starts("\xff\xd8\xff")},
		{format{"image/gif", ".gif"}, either(starts("GIF87a"), starts("GIF89a"))},
		{format{"image/webp", ".webp"}, riff("WEBP")},
	},
	KindAudio: {
		{format{"audio/mpeg", ".mp3"}, isMP3},
		{format{"audio/ogg", ".ogg"}, isOggAudio},
		{format{"audio/wav", ".wav"}, riff("WAVE")},
		{format{"audio/flac", ".flac"}, starts("fLaC")},
		{format{"audio/mp4", ".m4a"}, brand("M4A ", "M4B ")},
	},
	KindVideo: {
		{format{"video/mp4", ".mp4"}, brand("isom", "iso2", "iso3", "iso4", "iso5", "iso6", "mp41", "mp42", "avc1", "M4V ", "MSNV", "dash")},
		{format{"video/webm", ".webm"}, isWebM},
	},
}

// What the slots take, in words.
var wanted = map[Kind]string{
	KindPicture: "Expected a picture: PNG, JPEG, GIF or WebP",
	KindAudio:   "Expected a sound: MP3, Ogg, WAV, FLAC or M4A",
	KindVideo:   "Expected a video: MP4 or WebM",
}

// recognize returns the format of a file by its beginning. The error is of kind
// Invalid (media_type). A file that is not shown may be anything.
func recognize(kind Kind, head []byte) (format, error) {
	if kind == KindFile {
		return format{"application/octet-stream", ".bin"}, nil
	}
	for _, s := range formats[kind] {
		if s.is(head) {
			return s.format, nil
		}
	}
	return format{}, fault.Invalid("media_type", wanted[kind]+". The content of the file is something else")
}

func starts(with string) func([]byte) bool {
	return func(head []byte) bool { return bytes.HasPrefix(head, []byte(with)) }
}

func either(a, b func([]byte) bool) func([]byte) bool {
	return func(head []byte) bool { return a(head) || b(head) }
}

// riff recognizes a RIFF file with a form.
func riff(form string) func([]byte) bool {
	return func(head []byte) bool {
		return len(head) >= 16 && string(head[:4]) == "RIFF" && string(head[8:12]) == form
	}
}

// brand recognizes an ISO media file by its major brand.
func brand(names ...string) func([]byte) bool {
	return func(head []byte) bool {
		if len(head) < 16 || string(head[4:8]) != "ftyp" || binary.BigEndian.Uint32(head) < 16 || binary.BigEndian.Uint32(head) > headLength {
			return false
		}
		for _, name := range names {
			if string(head[8:12]) == name {
				return true
			}
		}
		return false
	}
}

// isMP3 recognizes an ID3 tag of version 2, or a frame of MPEG audio of layer III.
func isMP3(head []byte) bool {
	if len(head) < 10 {
		return false
	}
	if string(head[:3]) == "ID3" {
		return head[3] >= 2 && head[3] <= 4 && head[4] != 0xff && (head[6]|head[7]|head[8]|head[9])&0x80 == 0
	}
	version, layer := head[1]>>3&3, head[1]>>1&3
	bitrate, rate := head[2]>>4, head[2]>>2&3
	return head[0] == 0xff && head[1]&0xe0 == 0xe0 && version != 1 && layer == 1 && bitrate != 0 && bitrate != 15 && rate != 3
}

// isOggAudio recognizes a first page of Ogg with the header of a sound.
func isOggAudio(head []byte) bool {
	if len(head) < 28 || string(head[:5]) != "OggS\x00" {
		return false
	}
	packet := head[min(len(head), 27+int(head[26])):]
	for _, codec := range []string{"\x01vorbis", "OpusHead", "\x7fFLAC", "Speex   "} {
		if bytes.HasPrefix(packet, []byte(codec)) {
			return true
		}
	}
	return false
}

// isWebM recognizes the header of Matroska with the document type of WebM.
func isWebM(head []byte) bool {
	return bytes.HasPrefix(head, []byte("\x1a\x45\xdf\xa3")) && bytes.Contains(head[:min(len(head), 64)], []byte("\x42\x82\x84webm"))
}

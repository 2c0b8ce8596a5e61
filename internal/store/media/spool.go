package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/countersign/countersign/internal/fault"
)

// pictureTime is how long a picture takes at most from the moment when it has arrived, its wait for others included.
const pictureTime = 3 * time.Second

// muchGarbage is from how much memory on what a picture leaves behind is returned at once.
const muchGarbage = 8 << 20

var (
	errSlow = fault.Invalid("media_slow", "Reading the picture takes too long. Export it again and upload that file")
	errBusy = fault.WithRetry(fault.Unavailable("media_busy", "Too many pictures are being read at present. Nothing was saved"), pictureTime)
)

// spool is a temporary file. A client may take long to send a picture, and memory is for those that have arrived.
type spool struct{ *os.File }

// newSpool creates one, without a name where the system allows that: then nothing is left by a process that was killed.
func newSpool(dir string) (spool, error) {
	f, err := os.CreateTemp(dir, "picture-*.tmp")
	if err != nil {
		return spool{}, fmt.Errorf("media: temporary file: %w", fault.FileReason(err))
	}
	_ = os.Remove(f.Name()) // else it is removed later
	return spool{f}, nil
}

func (f spool) remove() {
	_ = f.Close()
	_ = os.Remove(f.Name())
}

// picture reads a picture whose file has a limit, and writes it again into a file, which the caller removes.
func (s *Service) picture(ctx context.Context, workspace int64, from io.Reader) (file spool, p picture, err error) {
	if file, err = newSpool(s.dir); err != nil {
		return spool{}, picture{}, err
	}
	defer func() {
		if err != nil {
			file.remove()
		}
	}()
	size, err := io.Copy(file, from)
	if err != nil {
		return file, picture{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, pictureTime, errSlow)
	defer cancel()
	p, err = s.decode(ctx, workspace, file, size)
	return file, p, err
}

// decode replaces the content of a file by the picture that is written again.
func (s *Service) decode(ctx context.Context, workspace int64, file spool, size int64) (picture, error) {
	memory, err := s.memory(file, size)
	if err != nil {
		return picture{}, err
	}
	done, err := s.decodings.enter(ctx, workspace, memory)
	if errors.Is(err, errSlow) {
		err = errBusy
	}
	if err != nil {
		return picture{}, err
	}
	defer done()
	if memory > muchGarbage {
		defer debug.FreeOSMemory() // the next one needs as much
	}
	from, err := file.inspect(size)
	if err == nil {
		err = file.clear()
	}
	if err != nil {
		return picture{}, err
	}
	p, err := from.write(ctx, file)
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	return p, err
}

// memory is how much it takes to read a picture, in bytes. One at a time is looked at: it is all in memory meanwhile.
func (s *Service) memory(file spool, size int64) (int, error) {
	s.inspecting.Lock()
	defer s.inspecting.Unlock()
	from, err := file.inspect(size)
	return from.memory + int(size), err
}

func (f spool) inspect(size int64) (source, error) {
	content := make([]byte, size)
	if _, err := f.ReadAt(content, 0); err != nil {
		return source{}, err
	}
	return inspect(content)
}

// clear leaves the file empty.
func (f spool) clear() error {
	_, err := f.Seek(0, io.SeekStart)
	return errors.Join(err, f.Truncate(0))
}

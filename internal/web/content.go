package web

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
)

// fileFrom is the length from which the bytes of an answer lie in a file in memory, from which the kernel sends them.
// To copy them into the buffers of each connection takes longer than all else that is done to answer.
const fileFrom = 1 << 20

// A content is the bytes of a body. It is immutable and may be shared.
type content struct {
	bytes  []byte   // nil when they are in the file
	file   *os.File // in memory alone; closed when nobody can reach it
	length int64
}

// keep makes content of bytes, which must not change afterwards.
func keep(body []byte) content {
	c := inBytes(body)
	if len(body) < fileFrom {
		return c
	}
	if file, err := memoryFile(body); err == nil { // else the bytes do as well
		c.bytes, c.file = nil, file
	}
	return c
}

func inBytes(body []byte) content { return content{bytes: body, length: int64(len(body))} }

// memoryFile makes a file in memory.
func memoryFile(body []byte) (*os.File, error) {
	file, err := newMemoryFile()
	if err != nil {
		return nil, err
	}
	if _, err := file.Write(body); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// sendTo writes the bytes to w.
func (c content) sendTo(w io.Writer) error {
	if c.file == nil {
		_, err := w.Write(c.bytes)
		return err
	}
	// A file that is opened again has a place of its own where it is read.
	own, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", c.file.Fd()))
	if err != nil {
		_, err = io.Copy(w, io.NewSectionReader(c.file, 0, c.length))
		return err
	}
	defer own.Close()
	runtime.KeepAlive(c.file) // as long as its number is used
	_, err = io.Copy(w, own)
	return err
}

// lengths is the value of Content-Length.
func (c content) lengths() []string { return []string{strconv.FormatInt(c.length, 10)} }
